// A callback receiver that checks every signature.
// Needs: go get github.com/standard-webhooks/standard-webhooks/libraries/go
//
// Run: CALLBACK_SECRET=whsec_... go run receiver.go 9000
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("CALLBACK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	var seen sync.Map // Use a table with a unique key in a real service.
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		// The signature covers the bytes as they came: check first, parse afterwards.
		body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
		if err != nil || webhook.Verify(body, request.Header) != nil {
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
