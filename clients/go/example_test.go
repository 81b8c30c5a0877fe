package memsidecar_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

func Example() {
	ctx := context.Background()
	memory, err := memsidecar.New()
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()

	_, err = memory.Add(ctx, &pb.AddRequest{
		UserId: "ana", SessionId: "s1", Message: memsidecar.UserMessage("I moved to Lisbon."),
	})
	if err != nil {
		log.Fatal(err)
	}
	shown, err := memory.BuildContext(ctx, &pb.BuildContextRequest{
		UserId: "ana", SessionId: "s2", Query: "Where do I live?", AppendQuery: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, message := range shown.Messages {
		fmt.Println(message.Role, message.Content)
	}
}

func ExampleNew() {
	memory, err := memsidecar.New(
		memsidecar.WithAddress("memory.example:7600"),
		memsidecar.WithTLS(true),
		memsidecar.WithTokenFile("/run/secrets/memsidecar-token"),
		memsidecar.WithTimeout(5*time.Second),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
}

func ExampleClient_Messages() {
	memory, err := memsidecar.New()
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()

	for message, err := range memory.Messages(context.Background(), &pb.GetAllRequest{SessionId: "s1"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(message.Sequence, message.Content)
	}
}

func ExampleClient_AddStream() {
	memory, err := memsidecar.New()
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()

	requests := slices.Values([]*pb.AddStreamRequest{
		{SessionId: "s1", Message: memsidecar.UserMessage("What is 2 + 2?")},
		{SessionId: "s1", Message: memsidecar.AssistantMessage("4")},
	})
	for answer, err := range memory.AddStream(context.Background(), requests) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer.Result.Sequence, answer.Result.MessageId)
	}
}

func ExampleError() {
	ctx := context.Background()
	memory, err := memsidecar.New()
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()

	request := &pb.BuildContextRequest{SessionId: "s1", MaxTokens: 100}
	shown, err := memory.BuildContext(ctx, request)
	var failed *memsidecar.Error
	if errors.Is(err, memsidecar.ErrBudgetTooSmall) && errors.As(err, &failed) {
		request.MaxTokens, _ = failed.RequiredTokens()
		shown, err = memory.BuildContext(ctx, request)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(shown.TotalTokens)
}
