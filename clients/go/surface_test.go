package memsidecar

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

func TestThereIsAMethodForEachRPC(t *testing.T) {
	client := reflect.TypeFor[*Client]()
	for method := range methods() {
		if _, ok := client.MethodByName(string(method.Name())); !ok {
			t.Errorf("there is no method %s", method.Name())
		}
	}
}

func TestThereIsAnIteratorForAllThatComesInPages(t *testing.T) {
	client := reflect.TypeFor[*Client]()
	found := 0
	for method := range methods() {
		if method.Output().Fields().ByName("next_page_token") == nil {
			continue
		}
		found++
		name := string(method.Output().Fields().Get(0).Name())
		name = strings.ToUpper(name[:1]) + name[1:]
		if _, ok := client.MethodByName(name); !ok {
			t.Errorf("there is no iterator %s over the pages of %s", name, method.Name())
		}
	}
	if found != 7 {
		t.Errorf("%d RPCs come in pages", found)
	}
}

func TestThereIsASentinelForEachReason(t *testing.T) {
	reasons := pb.ErrorReason(0).Descriptor().Values()
	kinds := map[error]bool{}
	for i := 1; i < reasons.Len(); i++ {
		reason := strings.TrimPrefix(string(reasons.Get(i).Name()), "ERROR_REASON_")
		if byReason[reason] == nil {
			t.Errorf("there is no error for %s", reason)
		}
		kinds[byReason[reason]] = true
	}
	if len(byReason) != reasons.Len()-1 || len(kinds) != len(byReason) {
		t.Errorf("%d reasons have %d errors", len(byReason), len(kinds))
	}
}

func methods() func(yield func(protoreflect.MethodDescriptor) bool) {
	files := []protoreflect.FileDescriptor{
		pb.File_memsidecar_v1_memory_proto, pb.File_memsidecar_v1_session_proto, pb.File_memsidecar_v1_knowledge_proto,
	}
	return func(yield func(protoreflect.MethodDescriptor) bool) {
		for _, file := range files {
			for i := range file.Services().Len() {
				methods := file.Services().Get(i).Methods()
				for j := range methods.Len() {
					if !yield(methods.Get(j)) {
						return
					}
				}
			}
		}
	}
}
