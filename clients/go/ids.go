package memsidecar

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// NewID makes a UUIDv7: the time in milliseconds, a count, then chance, so that the ids of a process sort by when they
// were made.
func NewID() string {
	var id [16]byte
	rand.Read(id[8:])
	milliseconds, count := ticks.next()
	for i := range 6 {
		id[i] = byte(milliseconds >> (8 * (5 - i)))
	}
	id[6] = 0x70 | byte(count>>8)
	id[7] = byte(count)
	id[8] = 0x80 | id[8]&0x3f
	return dashed(id)
}

// countBits are those between the version and the variant of a UUID.
const countBits = 12

var ticks ticker

// ticker is a clock that is later each time it is asked: more often than its count allows, or set back, it runs ahead.
type ticker struct {
	mu   sync.Mutex
	last int64
}

func (t *ticker) next() (milliseconds, count int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = max(t.last+1, time.Now().UnixMilli()<<countBits)
	return t.last >> countBits, t.last & (1<<countBits - 1)
}

func dashed(id [16]byte) string {
	text := make([]byte, 0, 36)
	for i, group := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, group)
	}
	return string(text)
}

// The functions below add missing ids to requests, so that a retried write is stored once. The caller's own request
// stays as it is: it may be shared, and used again for another message.

func identifiedAdd(request *pb.AddRequest) *pb.AddRequest {
	if !lacksID(request.GetMessage()) {
		return request
	}
	request = proto.CloneOf(request)
	request.Message.Id = NewID()
	return request
}

func identifiedBatch(request *pb.AddBatchRequest) *pb.AddBatchRequest {
	cloned := false
	for i, message := range request.GetMessages() {
		if !lacksID(message) {
			continue
		}
		if !cloned {
			request, cloned = proto.CloneOf(request), true
		}
		request.Messages[i].Id = NewID()
	}
	return request
}

func identifiedInteraction(request *pb.StoreInteractionRequest) *pb.StoreInteractionRequest {
	if request == nil || request.InteractionId != "" {
		return request
	}
	request = proto.CloneOf(request)
	request.InteractionId = NewID()
	return request
}

// The server derives the artifact id of an offloaded message.
func identifiedArtifact(request *pb.PutArtifactRequest) *pb.PutArtifactRequest {
	if request.GetArtifact() == nil || request.Artifact.Id != "" || request.OffloadMessageId != "" {
		return request
	}
	request = proto.CloneOf(request)
	request.Artifact.Id = NewID()
	return request
}

func lacksID(message *pb.Message) bool {
	return message != nil && message.Id == ""
}
