package dev.memsidecar.chatmemory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Alignment of the wanted messages with the messages of a stored window. */
final class Alignment {
    private Alignment() {}

    /** The position of each wanted message in the window; -1 for a new message. */
    static int[] of(List<Body> window, List<Body> wanted) {
        int[] places = new int[wanted.size()];
        Arrays.fill(places, -1);
        match(window, wanted, true, places);
        match(window, wanted, false, places);
        return places;
    }

    /** Compares system messages separately: they stay when others leave, and move to the front. */
    private static void match(List<Body> window, List<Body> wanted, boolean system, int[] places) {
        List<Integer> from = placesOf(window, system);
        List<Integer> to = placesOf(wanted, system);
        List<Body> had = from.stream().map(window::get).toList();
        List<Body> shall = to.stream().map(wanted::get).toList();
        int[] found = slid(had, shall);
        if (found == null) {
            found = common(had, shall);
        }
        for (int place = 0; place < found.length; place++) {
            places[to.get(place)] = found[place] < 0 ? -1 : from.get(found[place]);
        }
    }

    private static List<Integer> placesOf(List<Body> bodies, boolean system) {
        List<Integer> places = new ArrayList<>();
        for (int place = 0; place < bodies.size(); place++) {
            if (bodies.get(place).isSystem() == system) {
                places.add(place);
            }
        }
        return places;
    }

    /**
     * Aligns the usual change: the oldest messages left, new ones follow. Null if it does not apply. It is tried first,
     * because of conversations with repeated messages: "yes", "ok", "yes", "ok".
     */
    private static int[] slid(List<Body> had, List<Body> shall) {
        for (int left = 0; left < had.size(); left++) {
            int kept = had.size() - left;
            if (kept <= shall.size() && had.subList(left, had.size()).equals(shall.subList(0, kept))) {
                int[] places = new int[shall.size()];
                for (int place = 0; place < places.length; place++) {
                    places[place] = place < kept ? left + place : -1;
                }
                return places;
            }
        }
        return null;
    }

    /** Aligns the longest common subsequence, with the latest of equal messages. */
    private static int[] common(List<Body> had, List<Body> shall) {
        int[][] longest = new int[shall.size() + 1][had.size() + 1];
        for (int i = 1; i <= shall.size(); i++) {
            for (int j = 1; j <= had.size(); j++) {
                longest[i][j] = shall.get(i - 1).equals(had.get(j - 1))
                        ? longest[i - 1][j - 1] + 1
                        : Math.max(longest[i - 1][j], longest[i][j - 1]);
            }
        }
        int[] places = new int[shall.size()];
        Arrays.fill(places, -1);
        for (int i = shall.size(), j = had.size(); i > 0 && j > 0; ) {
            if (shall.get(i - 1).equals(had.get(j - 1))) {
                places[--i] = --j;
            } else if (longest[i - 1][j] >= longest[i][j - 1]) {
                i--;
            } else {
                j--;
            }
        }
        return places;
    }
}
