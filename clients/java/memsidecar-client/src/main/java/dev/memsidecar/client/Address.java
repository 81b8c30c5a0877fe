package dev.memsidecar.client;

import io.grpc.netty.shaded.io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Where a sidecar is: {@code host:port} or {@code unix:/path}. */
record Address(String text) {
    static final String DEFAULT = "127.0.0.1:7600";

    private static final String UNIX = "unix:";

    boolean isSocket() {
        return text.startsWith(UNIX);
    }

    /** Of a socket: the path of its file, from {@code unix:/path} and {@code unix:///path}. */
    String path() {
        String path = text.substring(UNIX.length());
        return path.startsWith("//") ? path.substring(2) : path;
    }

    /** A socket or loopback: what is sent there never sees a network. */
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
        String authority = text.substring(text.lastIndexOf('/') + 1);
        int colon = authority.lastIndexOf(':');
        String host = colon < 0 ? authority : authority.substring(0, colon);
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }
}
