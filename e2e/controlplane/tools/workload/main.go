// Command workload stands in for the programs of a stack in real containers: it waits, serves, crashes or
// takes memory, as its argument says.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	behaviour := "wait"
	if len(os.Args) > 1 {
		behaviour = os.Args[1]
	}
	switch behaviour {
	case "crash":
		fmt.Println("cannot open the configuration")
		os.Exit(1)
	case "fill-memory":
		fillMemory()
	case "serve":
		serve(func() int { return http.StatusOK })
	case "serve-unready":
		serve(func() int { return http.StatusServiceUnavailable })
	case "serve-for-10s":
		started := time.Now()
		serve(func() int {
			if time.Since(started) < 10*time.Second {
				return http.StatusOK
			}
			return http.StatusInternalServerError
		})
	default:
		wait()
	}
}

// wait is also the pause of each pod, which reaps what others leave behind.
func wait() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}

func fillMemory() {
	var taken [][]byte
	for {
		block := make([]byte, 8<<20)
		for i := range block {
			block[i] = 1
		}
		taken = append(taken, block)
		time.Sleep(20 * time.Millisecond)
	}
}

func serve(health func() int) {
	http.HandleFunc("/health", func(answer http.ResponseWriter, _ *http.Request) {
		answer.WriteHeader(health())
	})
	go http.ListenAndServe(":8000", nil)
	wait()
}
