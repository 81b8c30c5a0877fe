// Command driver calls what the runner of the scenarios tells it to, with the real client: a line of JSON for each
// command and each answer. See clients/scenarios/README.md.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// command is what the runner says; what it does not say is nil.
type command struct {
	ID                 int      `json:"id"`
	Do                 string   `json:"do"`
	Client             string   `json:"client"`
	RPC                string   `json:"rpc"`
	Request            []byte   `json:"request"`
	Requests           [][]byte `json:"requests"`
	DeadlineSeconds    *float64 `json:"deadline_seconds"`
	CancelAfterSeconds *float64 `json:"cancel_after_seconds"`
	TimeoutSeconds     float64  `json:"timeout_seconds"`
	PauseSeconds       float64  `json:"pause_seconds"`
	StopAfter          int      `json:"stop_after"`

	Address           string  `json:"address"`
	Token             *string `json:"token"`
	TokenFile         string  `json:"token_file"`
	TLS               *bool   `json:"tls"`
	CAFile            string  `json:"ca_file"`
	CertificateFile   string  `json:"certificate_file"`
	KeyFile           string  `json:"key_file"`
	Attempts          *int    `json:"attempts"`
	AllowTokenInClear bool    `json:"allow_token_in_clear"`
}

// answer is what came of a command.
type answer map[string]any

func main() {
	driver := &driver{clients: map[string]*memsidecar.Client{}, out: json.NewEncoder(os.Stdout)}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		var cmd command
		if err := json.Unmarshal(line, &cmd); err != nil {
			log.Fatal(err)
		}
		go driver.run(&cmd)
	}
}

type driver struct {
	mu      sync.Mutex
	clients map[string]*memsidecar.Client

	speaking sync.Mutex
	out      *json.Encoder
}

func (d *driver) run(cmd *command) {
	result := d.do(cmd)
	result["id"] = cmd.ID
	d.speaking.Lock()
	defer d.speaking.Unlock()
	if err := d.out.Encode(result); err != nil {
		log.Fatal(err)
	}
}

func (d *driver) do(cmd *command) answer {
	if cmd.Do == "open" {
		return d.open(cmd)
	}
	client := d.client(cmd)
	ctx, cancel := cmd.context()
	defer cancel()
	switch cmd.Do {
	case "close":
		return ended(client.Close())
	case "ready":
		return ended(client.WaitUntilReady(ctx))
	case "call":
		return call(ctx, client, cmd)
	case "iterate":
		return iterate(ctx, client, cmd)
	case "stream":
		return stream(ctx, client, cmd)
	}
	panic(fmt.Sprintf("no such command: %q", cmd.Do))
}

func (d *driver) open(cmd *command) answer {
	client, err := memsidecar.New(cmd.options()...)
	if err != nil {
		return answer{"refused": err.Error()}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients[cmd.Client] = client
	return answer{}
}

func (d *driver) client(cmd *command) *memsidecar.Client {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clients[cmd.Client]
}

// options gives to the client what the runner gave, and nothing else.
func (cmd *command) options() []memsidecar.Option {
	var options []memsidecar.Option
	if cmd.Address != "" {
		options = append(options, memsidecar.WithAddress(cmd.Address))
	}
	if cmd.Token != nil {
		options = append(options, memsidecar.WithToken(*cmd.Token))
	}
	if cmd.TokenFile != "" {
		options = append(options, memsidecar.WithTokenFile(cmd.TokenFile))
	}
	if cmd.TLS != nil {
		options = append(options, memsidecar.WithTLS(*cmd.TLS))
	}
	if cmd.CAFile != "" {
		options = append(options, memsidecar.WithCAFile(cmd.CAFile))
	}
	if cmd.CertificateFile != "" || cmd.KeyFile != "" {
		options = append(options, memsidecar.WithClientCertificate(cmd.CertificateFile, cmd.KeyFile))
	}
	if cmd.DeadlineSeconds != nil {
		options = append(options, memsidecar.WithTimeout(seconds(*cmd.DeadlineSeconds)))
	}
	if cmd.Attempts != nil {
		options = append(options, memsidecar.WithAttempts(*cmd.Attempts))
	}
	if cmd.AllowTokenInClear {
		options = append(options, memsidecar.WithTokenInClear())
	}
	return options
}

// context is the caller's: with the deadline of this command, and canceled when it says so.
func (cmd *command) context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	if cmd.CancelAfterSeconds != nil {
		time.AfterFunc(seconds(*cmd.CancelAfterSeconds), cancel)
	}
	limit := cmd.DeadlineSeconds
	if cmd.Do == "ready" {
		limit = &cmd.TimeoutSeconds
	}
	if limit == nil {
		return ctx, cancel
	}
	ctx, release := context.WithTimeout(ctx, seconds(*limit))
	return ctx, func() { release(); cancel() }
}

func seconds(number float64) time.Duration {
	return time.Duration(number * float64(time.Second))
}

// call calls the client's method of the RPC's name.
func call(ctx context.Context, client *memsidecar.Client, cmd *command) answer {
	method := reflect.ValueOf(client).MethodByName(cmd.RPC)
	results := method.Call([]reflect.Value{reflect.ValueOf(ctx), requestFor(method, cmd.Request)})
	if err, failed := results[1].Interface().(error); failed {
		return answer{"error": describe(err)}
	}
	return answer{"answer": pack(results[0].Interface())}
}

// iterate calls the method that goes through the pages. It has the name of what is on them.
func iterate(ctx context.Context, client *memsidecar.Client, cmd *command) answer {
	method := reflect.ValueOf(client).MethodByName(nameOfItems(cmd.RPC))
	pages := method.Call([]reflect.Value{reflect.ValueOf(ctx), requestFor(method, cmd.Request)})[0]
	return collect("items", cmd, func(yield func(any, error) bool) {
		for item, err := range pages.Seq2() {
			failure, _ := err.Interface().(error)
			if !yield(item.Interface(), failure) {
				return
			}
		}
	})
}

// requestFor reads the request that a method takes.
func requestFor(method reflect.Value, packed []byte) reflect.Value {
	request := reflect.New(method.Type().In(1).Elem())
	unpack(packed, request.Interface().(proto.Message))
	return request
}

// nameOfItems is that of the first repeated message of the RPC's answer: "Messages" for GetAll.
func nameOfItems(rpc string) string {
	for _, file := range []protoreflect.FileDescriptor{
		pb.File_memsidecar_v1_memory_proto, pb.File_memsidecar_v1_session_proto, pb.File_memsidecar_v1_knowledge_proto,
	} {
		method := file.Services().Get(0).Methods().ByName(protoreflect.Name(rpc))
		if method == nil {
			continue
		}
		for i := range method.Output().Fields().Len() {
			if field := method.Output().Fields().Get(i); field.IsList() && field.Message() != nil {
				return strings.ToUpper(string(field.Name()[0])) + string(field.Name()[1:])
			}
		}
	}
	panic("no such RPC with pages: " + rpc)
}

func stream(ctx context.Context, client *memsidecar.Client, cmd *command) answer {
	switch cmd.RPC {
	case "AddStream":
		return collect("answers", cmd, anyOf(client.AddStream(ctx, paced[pb.AddStreamRequest](cmd))))
	case "Import":
		return collect("answers", cmd, anyOf(client.Import(ctx, paced[pb.ImportRequest](cmd))))
	case "Export":
		request := &pb.ExportRequest{}
		unpack(cmd.Requests[0], request)
		return collect("answers", cmd, anyOf(client.Export(ctx, request)))
	case "Watch":
		request := &pb.WatchRequest{}
		unpack(cmd.Requests[0], request)
		return collect("answers", cmd, anyOf(client.Watch(ctx, request)))
	}
	panic("no such stream: " + cmd.RPC)
}

// paced gives requests one after the other, with a pause before each but the first.
func paced[Request any, Pointer interface {
	*Request
	proto.Message
}](cmd *command) iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for number, packed := range cmd.Requests {
			if number > 0 {
				time.Sleep(seconds(cmd.PauseSeconds))
			}
			request := Pointer(new(Request))
			unpack(packed, request)
			if !yield(request) {
				return
			}
		}
	}
}

func anyOf[Item any](items iter.Seq2[Item, error]) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for item, err := range items {
			if !yield(item, err) {
				return
			}
		}
	}
}

// collect keeps what came before an error.
func collect(name string, cmd *command, items iter.Seq2[any, error]) answer {
	found := []string{}
	for item, err := range items {
		if err != nil {
			return answer{name: found, "error": describe(err)}
		}
		if found = append(found, pack(item)); len(found) == cmd.StopAfter {
			break
		}
	}
	return answer{name: found}
}

func pack(message any) string {
	packed, err := proto.Marshal(message.(proto.Message))
	if err != nil {
		log.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(packed)
}

func unpack(packed []byte, message proto.Message) {
	if err := proto.Unmarshal(packed, message); err != nil {
		log.Fatal(err)
	}
}

func ended(err error) answer {
	if err != nil {
		return answer{"error": describe(err)}
	}
	return answer{}
}

func describe(err error) answer {
	var failed *memsidecar.Error
	if !errors.As(err, &failed) {
		log.Fatalf("an error that is none of the client's: %v", err)
	}
	described := answer{
		"code":                code.Code(failed.Code).String(),
		"reason":              failed.Reason,
		"field":               failed.Field,
		"metadata":            failed.Metadata,
		"retry_after_seconds": nil,
		"kind":                kindOf(err),
		"message":             failed.Message,
	}
	if wait, ok := failed.RetryAfter(); ok {
		described["retry_after_seconds"] = wait.Seconds()
	}
	return described
}

// kindOf is the sentinel's name, by what a caller would compare.
func kindOf(err error) string {
	for _, kind := range []struct {
		sentinel error
		name     string
	}{
		{memsidecar.ErrInvalidField, "InvalidField"},
		{memsidecar.ErrNotFound, "NotFound"},
		{memsidecar.ErrIDConflict, "IdConflict"},
		{memsidecar.ErrSequenceMismatch, "SequenceMismatch"},
		{memsidecar.ErrSessionOwnerMismatch, "SessionOwnerMismatch"},
		{memsidecar.ErrBudgetTooSmall, "BudgetTooSmall"},
		{memsidecar.ErrTooLarge, "TooLarge"},
		{memsidecar.ErrRateLimited, "RateLimited"},
		{memsidecar.ErrQuotaExceeded, "QuotaExceeded"},
		{memsidecar.ErrDiskFull, "DiskFull"},
		{memsidecar.ErrSlowReader, "SlowReader"},
		{memsidecar.ErrUnauthenticated, "Unauthenticated"},
		{memsidecar.ErrPermissionDenied, "PermissionDenied"},
		{memsidecar.ErrStarting, "Starting"},
		{memsidecar.ErrShuttingDown, "ShuttingDown"},
		{memsidecar.ErrIndexUnavailable, "IndexUnavailable"},
		{memsidecar.ErrOverloaded, "Overloaded"},
		{memsidecar.ErrJournalUnavailable, "JournalUnavailable"},
		{memsidecar.ErrDataCorrupted, "DataCorrupted"},
		{memsidecar.ErrNotImplemented, "NotImplemented"},
		{memsidecar.ErrInternal, "Internal"},
		{memsidecar.ErrUnreachable, "Unreachable"},
		{memsidecar.ErrDeadlineExceeded, "DeadlineExceeded"},
		{memsidecar.ErrCanceled, "Cancelled"},
	} {
		if errors.Is(err, kind.sentinel) {
			return kind.name
		}
	}
	return "Error"
}
