package dev.memsidecar.client;

import io.grpc.netty.shaded.io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Address of a sidecar: {@code host:port} or {@code unix:/path}. */
record Address(String text) {
    static final String DEFAULT = "127.0.0.1:7600";

    private static final String UNIX = "unix:";

    /** Not {@code unix://host/path}: a socket has no host. */
    private static final Pattern SOCKET = Pattern.compile("unix:(?!//[^/]).*[^/].*");

    private static final Pattern HOST_AND_PORT = Pattern.compile("([^\\s:/\\[\\]]+|\\[[0-9a-fA-F:.]+]):([0-9]{1,5})");

    private static final int LAST_PORT = 65_535;

    Address {
        if (!SOCKET.matcher(text).matches() && !isHostAndPort(text)) {
            throw new IllegalArgumentException("\"" + text + "\" is neither host:port nor unix:/path");
        }
    }

    private static boolean isHostAndPort(String text) {
        Matcher found = HOST_AND_PORT.matcher(text);
        if (!found.matches()) {
            return false;
        }
        int port = Integer.parseInt(found.group(2));
        boolean isHost = !found.group(1).startsWith("[") || NetUtil.isValidIpV6Address(bare(found.group(1)));
        return isHost && port >= 1 && port <= LAST_PORT;
    }

    boolean isSocket() {
        return text.startsWith(UNIX);
    }

    /** Returns the path of a unix socket, from {@code unix:/path} and {@code unix:///path}. */
    String path() {
        String path = text.substring(UNIX.length());
        return path.startsWith("//") ? path.substring(2) : path;
    }

    /** Returns the target for gRPC, with a scheme: gRPC would take a host named dns for a scheme. */
    String target() {
        try {
            return new URI("dns", "", "/" + text, null).toString();
        } catch (URISyntaxException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }

    /** Returns whether it is a unix socket or loopback, which use no network. */
    boolean staysHere() {
        return isSocket() || host().equalsIgnoreCase("localhost") || isLoopback(host());
    }

    private static boolean isLoopback(String host) {
        byte[] number = NetUtil.createByteArrayFromIpAddressString(host);
        try {
            return number != null && InetAddress.getByAddress(number).isLoopbackAddress();
        } catch (UnknownHostException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private String host() {
        return bare(text.substring(0, text.lastIndexOf(':')));
    }

    private static String bare(String host) {
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }
}
