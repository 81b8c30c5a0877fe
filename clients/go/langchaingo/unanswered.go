package langchaingo

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// mostUnanswered is how many adds are remembered; of more, the oldest are forgotten.
const mostUnanswered = 256

// unanswered are adds that failed, by a sum of what was added: whoever adds the same again means the same messages, and
// not further ones, so they keep their ids.
type unanswered struct {
	mu   sync.Mutex
	adds []failedAdd
}

type failedAdd struct {
	sum [sha256.Size]byte
	ids []string
}

// take gives the ids of an add that failed, once.
func (u *unanswered) take(sum [sha256.Size]byte) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, add := range u.adds {
		if add.sum == sum {
			u.adds = slices.Delete(u.adds, i, i+1)
			return add.ids
		}
	}
	return nil
}

func (u *unanswered) keep(sum [sha256.Size]byte, ids []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.adds) == mostUnanswered {
		u.adds = slices.Delete(u.adds, 0, 1)
	}
	u.adds = append(u.adds, failedAdd{sum: sum, ids: ids})
}

func (u *unanswered) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.adds = nil
}

// tape gives ids: those that it holds, one after the other, then new ones, which it holds from then on.
type tape struct {
	ids  []string
	next int
}

func (t *tape) id() string {
	if t.next == len(t.ids) {
		t.ids = append(t.ids, memsidecar.NewID())
	}
	t.next++
	return t.ids[t.next-1]
}

// sumOf is the same for the same messages. One that cannot be packed is never stored, and whoever sends it is told why.
func sumOf(messages []*pb.Message) [sha256.Size]byte {
	sum := sha256.New()
	for _, message := range messages {
		packed, _ := proto.MarshalOptions{Deterministic: true}.Marshal(message)
		fmt.Fprintf(sum, "%d:%s", len(packed), packed)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}
