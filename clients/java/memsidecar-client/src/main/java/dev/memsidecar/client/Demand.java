package dev.memsidecar.client;

/** How many items a subscriber still wants. */
final class Demand {
    private Demand() {}

    /** Without end, once it is more than can be counted. */
    static long plus(long wanted, long more) {
        long sum = wanted + more;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }
}
