// A callback receiver that checks every signature. It needs nothing but Go itself; the Standard Webhooks library
// (github.com/standard-webhooks/standard-webhooks/libraries/go) does the same in its function Verify.
//
// Run: CALLBACK_SECRET=whsec_... go run receiver.go 9000
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Older and newer callbacks than this are refused, so that nobody can send a caught one again.
const tolerance = 5 * time.Minute

// verify says whether a callback was signed with the key. Several signatures stand side by side while a secret is
// being replaced.
func verify(key, body []byte, header http.Header) bool {
	id, sent := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age > tolerance || age < -tolerance {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, sent, body)
	expected := mac.Sum(nil)
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		text := strings.TrimPrefix(signature, "v1,")
		given, err := base64.StdEncoding.DecodeString(text)
		if text != signature && err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("CALLBACK_SECRET"), "whsec_"))
	if err != nil || len(key) == 0 {
		log.Fatal("CALLBACK_SECRET: whsec_ and base64, as /account/v1/callbacks/secret shows it")
	}
	var seen sync.Map // Use a table with a unique key in a real service.
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		// The signature covers the bytes as they came: check first, parse afterwards.
		body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
		if err != nil || !verify(key, body, request.Header) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, again := seen.LoadOrStore(request.Header.Get("webhook-id"), true); !again {
			var job struct{ Status string }
			if json.Unmarshal(body, &job) == nil {
				fmt.Println(job.Status)
			}
		}
		response.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
