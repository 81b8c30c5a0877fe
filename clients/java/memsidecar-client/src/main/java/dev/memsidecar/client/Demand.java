package dev.memsidecar.client;

/** The outstanding demand of a subscriber. */
final class Demand {
    private Demand() {}

    /** Unbounded after an overflow. */
    static long plus(long wanted, long more) {
        long sum = wanted + more;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }
}
