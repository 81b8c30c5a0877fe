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

// maxFailedAdds limits the remembered adds; the oldest are dropped first.
const maxFailedAdds = 256

// failedAdds are adds that failed, by a checksum of their messages. An add with the same checksum is a retry, so its
// messages keep their ids.
type failedAdds struct {
	mu   sync.Mutex
	adds []failedAdd
}

type failedAdd struct {
	sum [sha256.Size]byte
	ids []string
}

// take returns and removes the ids of a failed add.
func (u *failedAdds) take(sum [sha256.Size]byte) []string {
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

func (u *failedAdds) keep(sum [sha256.Size]byte, ids []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.adds) == maxFailedAdds {
		u.adds = slices.Delete(u.adds, 0, 1)
	}
	u.adds = append(u.adds, failedAdd{sum: sum, ids: ids})
}

func (u *failedAdds) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.adds = nil
}

// idSequence returns its ids in order, then generates and appends new ones.
type idSequence struct {
	ids  []string
	next int
}

func (t *idSequence) id() string {
	if t.next == len(t.ids) {
		t.ids = append(t.ids, memsidecar.NewID())
	}
	t.next++
	return t.ids[t.next-1]
}

// sumOf is the same for the same messages. A message that cannot be encoded is never stored, and its sender gets the error.
func sumOf(messages []*pb.Message) [sha256.Size]byte {
	sum := sha256.New()
	for _, message := range messages {
		packed, _ := proto.MarshalOptions{Deterministic: true}.Marshal(message)
		fmt.Fprintf(sum, "%d:%s", len(packed), packed)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}
