// Command load replays prepared gRPC requests and reports what the calls cost.
//
// It is written in Go so that on a two-core machine the client is not the
// bottleneck: a Python client would need more CPU for a call than the server
// it measures. It knows nothing of the contract. Requests come encoded from a
// file (each with its length before it, as an unsigned varint), so every call
// may carry an id of its own and no time is spent on building it.
//
// Without -rate each caller sends its next call when the last is answered: a
// slow server is then asked less. With it, calls are due at even distances,
// and a call that had to wait for a free caller counts from when it was due,
// so that a stall shows in every call that it delayed. Give it callers enough.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
)

// Figures is what one run prints, as one JSON object.
type Figures struct {
	Calls          int     `json:"calls"`
	Failures       int     `json:"failures"`
	FirstFailure   string  `json:"first_failure,omitempty"`
	Seconds        float64 `json:"seconds"`
	CallsPerSecond float64 `json:"calls_per_second"`
	P50Micros      float64 `json:"p50_us"`
	P99Micros      float64 `json:"p99_us"`
	ClientCPU      float64 `json:"client_cpu_seconds"`
}

// plainBytes hands request and answer through untouched.
type plainBytes struct{}

func (plainBytes) Name() string { return "proto" }

func (plainBytes) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (plainBytes) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*int) = data.Len()
	return nil
}

// work is the shared state of one run: callers take the next request until
// the time is over or the requests are used up.
type work struct {
	calling  context.Context
	method   string
	requests [][]byte
	repeat   bool
	rate     float64
	next     atomic.Int64
	begin    time.Time
	stop     time.Time
}

// take waits until the next request is due and returns it with the time from
// which it counts.
func (w *work) take() ([]byte, time.Time) {
	turn := int(w.next.Add(1)) - 1
	start := w.due(turn)
	if start.After(w.stop) || (!w.repeat && turn >= len(w.requests)) {
		return nil, start
	}
	return w.requests[turn%len(w.requests)], start
}

// due is now, or with a rate the time of that turn: later than now and waited
// for, which is not counted if it took a little too long, or earlier.
func (w *work) due(turn int) time.Time {
	now := time.Now()
	if w.rate <= 0 {
		return now
	}
	due := w.begin.Add(time.Duration(float64(turn) / w.rate * float64(time.Second)))
	if due.Before(now) || due.After(w.stop) {
		return due
	}
	time.Sleep(due.Sub(now))
	return time.Now()
}

type outcome struct {
	micros  []float64
	failure error
	failed  int
}

func (w *work) call(channel *grpc.ClientConn, result *outcome) {
	for request, start := w.take(); request != nil; request, start = w.take() {
		var answerBytes int
		err := channel.Invoke(w.calling, w.method, request, &answerBytes, grpc.ForceCodecV2(plainBytes{}))
		result.micros = append(result.micros, float64(time.Since(start).Nanoseconds())/1e3)
		if err != nil {
			result.failed++
			result.failure = err
		}
	}
}

func calling(token string) context.Context {
	if token == "" {
		return context.Background()
	}
	return metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)
}

func readRequests(path string) ([][]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, 1<<20)
	var requests [][]byte
	for {
		size, err := binary.ReadUvarint(reader)
		if err == io.EOF {
			return requests, nil
		}
		if err != nil {
			return nil, err
		}
		request := make([]byte, size)
		if _, err := io.ReadFull(reader, request); err != nil {
			return nil, err
		}
		requests = append(requests, request)
	}
}

func dial(address string, connections int) ([]*grpc.ClientConn, error) {
	channels := make([]*grpc.ClientConn, connections)
	for i := range channels {
		channel, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, err
		}
		channel.Connect()
		channels[i] = channel
	}
	return channels, nil
}

func (w *work) run(channels []*grpc.ClientConn, callers int, seconds float64) Figures {
	outcomes := make([]outcome, callers)
	var done sync.WaitGroup
	start := time.Now()
	w.begin, w.stop = start, start.Add(time.Duration(seconds*float64(time.Second)))
	for i := range outcomes {
		done.Add(1)
		go func() {
			defer done.Done()
			w.call(channels[i%len(channels)], &outcomes[i])
		}()
	}
	done.Wait()
	return figures(outcomes, time.Since(start).Seconds())
}

func figures(outcomes []outcome, seconds float64) Figures {
	var all []float64
	result := Figures{Seconds: seconds, ClientCPU: cpuSeconds()}
	for _, one := range outcomes {
		all = append(all, one.micros...)
		result.Failures += one.failed
		if one.failure != nil {
			result.FirstFailure = one.failure.Error()
		}
	}
	result.Calls = len(all)
	result.CallsPerSecond = float64(len(all)) / seconds
	if len(all) > 0 {
		slices.Sort(all)
		result.P50Micros = all[len(all)/2]
		result.P99Micros = all[len(all)*99/100]
	}
	return result
}

func main() {
	address := flag.String("address", "", "host:port of the server")
	method := flag.String("method", "", "full method name, /package.Service/Method")
	path := flag.String("requests", "", "file of length-delimited encoded requests")
	callers := flag.Int("callers", 16, "concurrent callers, each with one call in flight")
	connections := flag.Int("connections", 1, "connections that the callers share")
	seconds := flag.Float64("seconds", 5, "how long to go on")
	rate := flag.Float64("rate", 0, "calls due per second, however long the answers take; 0: as fast as they come")
	token := flag.String("token", "", "bearer token of a benchmark's own sidecar")
	repeat := flag.Bool("repeat", false, "start again when the requests are used up")
	flag.Parse()

	requests, err := readRequests(*path)
	if err == nil && len(requests) == 0 {
		err = fmt.Errorf("%s holds no request", *path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(2)
	}
	channels, err := dial(*address, *connections)
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(2)
	}
	todo := &work{method: *method, requests: requests, repeat: *repeat, rate: *rate, calling: calling(*token)}
	json.NewEncoder(os.Stdout).Encode(todo.run(channels, *callers, *seconds))
}
