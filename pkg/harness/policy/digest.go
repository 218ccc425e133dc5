package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Digest binds an approval to one call with exactly these argument bytes. Each part goes in
// with its length, so that no two different calls share their bytes.
func Digest(session, callID, tool string, arguments []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(session), []byte(callID), []byte(tool), arguments} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// RequestID is the id of the question about a call: the call's id and the head of its digest.
func RequestID(callID, digest string) string {
	if len(digest) > 12 {
		digest = digest[:12]
	}
	return callID + "-" + digest
}
