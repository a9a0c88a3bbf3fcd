package mockapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type object = map[string]any

// renamed returns a usage under other names, those that an API has not left out.
func renamed(usage, names object) object {
	if usage == nil {
		return nil
	}
	out := object{}
	for from, to := range names {
		if v, ok := usage[from]; ok {
			out[to.(string)] = v
		}
	}
	return out
}

// An events is a stream of named events.
type events struct{ strings.Builder }

func (e *events) add(kind string, members object) {
	members["type"] = kind
	b, _ := json.Marshal(members)
	fmt.Fprintf(e, "event: %s\ndata: %s\n\n", kind, b)
}

// responses returns the reply as OpenAI's Responses give it. A finish reason that is none of
// theirs makes it a response that is incomplete for that reason.
func (r Reply) responses(req Request, usage object) string {
	var output []any
	if r.Content != "" {
		output = append(output, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": r.Content, "annotations": []any{}}}})
	}
	for i, c := range r.Calls {
		output = append(output, object{"type": "function_call", "id": fmt.Sprint("fc_", i), "status": "completed",
			"call_id": fmt.Sprintf("call-%d-%d", req.N, i), "name": c.Name, "arguments": c.Arguments})
	}
	whole := object{"id": fmt.Sprint("resp_", req.N), "object": "response", "created_at": 1, "model": r.Model, "output": output,
		"status": "completed", "error": nil, "incomplete_details": nil, "usage": renamed(usage, object{"prompt_tokens": "input_tokens",
			"completion_tokens": "output_tokens", "total_tokens": "total_tokens", "cost": "cost"})}
	end := "response.completed"
	switch r.Finish {
	case "stop", "tool_calls":
	case "error":
		whole["status"], whole["error"], end = "failed", object{"code": "server_error", "message": "the model's host broke off"}, "response.failed"
	default:
		reason := cmp.Or(map[string]string{"length": "max_output_tokens"}[r.Finish], r.Finish)
		whole["status"], whole["incomplete_details"], end = "incomplete", object{"reason": reason}, "response.incomplete"
	}
	if !req.Stream || r.Whole {
		b, _ := json.Marshal(whole)
		return string(b)
	}
	var e events
	e.WriteString(": PROCESSING\n\n")
	e.add("response.created", object{"response": object{"id": whole["id"], "model": r.Model, "status": "in_progress", "output": []any{}}})
	for i, item := range output {
		begun := maps.Clone(item.(object))
		begun["status"] = "in_progress"
		if begun["type"] == "message" {
			begun["content"] = []any{}
		} else {
			begun["arguments"] = ""
		}
		e.add("response.output_item.added", object{"output_index": i, "item": begun})
		if i == 0 && r.Content != "" {
			e.add("response.content_part.added", object{"item_id": "msg_1", "output_index": 0, "content_index": 0,
				"part": object{"type": "output_text", "text": "", "annotations": []any{}}})
			for piece := range slices.Chunk([]rune(r.Content), cmp.Or(r.Piece, 16)) {
				e.add("response.output_text.delta", object{"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": string(piece)})
			}
		} else {
			e.add("response.function_call_arguments.delta", object{"item_id": item.(object)["id"], "output_index": i, "delta": item.(object)["arguments"]})
		}
		e.add("response.output_item.done", object{"output_index": i, "item": item})
	}
	e.add(end, object{"response": whole})
	return e.String()
}

// messages returns the reply as Anthropic's Messages give it.
func (r Reply) messages(req Request, usage object) string {
	used := renamed(usage, object{"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "cost": "cost"})
	var blocks []any
	if r.Content != "" {
		blocks = append(blocks, object{"type": "text", "text": r.Content})
	}
	for i, c := range r.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprintf("call-%d-%d", req.N, i), "name": c.Name, "input": json.RawMessage(c.Arguments)})
	}
	stop := cmp.Or(map[string]string{"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}[r.Finish], r.Finish)
	head := object{"id": fmt.Sprint("msg_", req.N), "type": "message", "role": "assistant", "model": r.Model, "content": []any{}, "stop_reason": nil, "usage": used}
	if !req.Stream || r.Whole {
		head["content"], head["stop_reason"] = blocks, stop
		b, _ := json.Marshal(head)
		return string(b)
	}
	var e events
	e.WriteString(": PROCESSING\n\n")
	e.add("message_start", object{"message": head})
	for i, b := range blocks {
		block := b.(object)
		if block["type"] == "text" {
			e.add("content_block_start", object{"index": i, "content_block": object{"type": "text", "text": ""}})
			for piece := range slices.Chunk([]rune(r.Content), cmp.Or(r.Piece, 16)) {
				e.add("content_block_delta", object{"index": i, "delta": object{"type": "text_delta", "text": string(piece)}})
			}
		} else {
			e.add("content_block_start", object{"index": i, "content_block": object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}})
			e.add("content_block_delta", object{"index": i, "delta": object{"type": "input_json_delta", "partial_json": string(block["input"].(json.RawMessage))}})
		}
		e.add("content_block_stop", object{"index": i})
	}
	delta := object{"delta": object{"stop_reason": stop}}
	if used != nil {
		delta["usage"] = object{"output_tokens": used["output_tokens"]}
	}
	if r.Finish == "error" {
		e.add("error", object{"error": object{"type": "api_error", "message": "the model's host broke off"}})
		return e.String()
	}
	e.add("message_delta", delta)
	e.add("message_stop", object{})
	return e.String()
}
