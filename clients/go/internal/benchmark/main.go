// Command benchmark tells how much the client adds to a call of Add, beside the bare generated stub:
//
//	go run ./internal/benchmark 127.0.0.1:7600
//
// It prints one line of JSON, with the medians in microseconds.
package main

import (
	"context"
	"encoding/json"
	"log"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

const (
	calls  = 2000
	warmUp = 200
	block  = 50
)

var content = strings.Repeat("twenty characters!! ", 20)

type result struct {
	Language           string  `json:"language"`
	Calls              int     `json:"calls"`
	ClientMicroseconds float64 `json:"client_us"`
	StubMicroseconds   float64 `json:"stub_us"`
	Ratio              float64 `json:"ratio"`
}

// add appends one message, and says how long that took.
type add func() time.Duration

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: benchmark ADDRESS")
	}
	client, stub := byClient(os.Args[1]), byStub(os.Args[1])
	measure(warmUp, client, stub)
	clientTimes, stubTimes := measure(calls, client, stub)
	clientTook, stubTook := median(clientTimes), median(stubTimes)
	err := json.NewEncoder(os.Stdout).Encode(result{
		Language:           "go",
		Calls:              calls,
		ClientMicroseconds: rounded(clientTook, 1),
		StubMicroseconds:   rounded(stubTook, 1),
		Ratio:              rounded(clientTook/stubTook, 3),
	})
	if err != nil {
		log.Fatal(err)
	}
}

// measure alternates between the two, so that other load affects both.
func measure(number int, one, other add) (ofOne, ofOther []time.Duration) {
	for range number / block {
		for range block {
			ofOne = append(ofOne, one())
		}
		for range block {
			ofOther = append(ofOther, other())
		}
	}
	return ofOne, ofOther
}

// byClient leaves the id to the client.
func byClient(address string) add {
	client, err := memsidecar.New(memsidecar.WithAddress(address))
	if err != nil {
		log.Fatal(err)
	}
	session := memsidecar.NewID()
	return func() time.Duration {
		begin := time.Now()
		_, err := client.Add(context.Background(), &pb.AddRequest{
			SessionId: session,
			Message:   &pb.Message{Role: pb.Role_ROLE_USER, Content: content},
		})
		if err != nil {
			log.Fatal(err)
		}
		return time.Since(begin)
	}
}

// byStub has its id before the clock runs, and a connection of its own that is made as the client's is.
func byStub(address string) add {
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
	)
	if err != nil {
		log.Fatal(err)
	}
	stub, session := pb.NewMemoryServiceClient(conn), memsidecar.NewID()
	return func() time.Duration {
		id := memsidecar.NewID()
		begin := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := stub.Add(ctx, &pb.AddRequest{
			SessionId: session,
			Message:   &pb.Message{Id: id, Role: pb.Role_ROLE_USER, Content: content},
		})
		if err != nil {
			log.Fatal(err)
		}
		return time.Since(begin)
	}
}

// median is in microseconds.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds()) / 1000
}

func rounded(number float64, digits float64) float64 {
	unit := math.Pow(10, digits)
	return math.Round(number*unit) / unit
}
