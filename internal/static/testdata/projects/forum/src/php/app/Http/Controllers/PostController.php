<?php

namespace App\Http\Controllers;

use App\Models\Post;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Log;

class PostController extends Controller
{
    public function index(Request $request)
    {
        $posts = Post::query()->matching($request->query())->limit(50)->get();
        return response()->json($posts);
    }

    public function search(Request $request)
    {
        $words = preg_split('/\s+/', $request->input('words', ''));
        $query = Post::with('author')->where('state', 'visible');
        foreach ($words as $word) {
            $query->whereRaw("LOWER(body) LIKE '%" . strtolower($word) . "%'");
        }
        return response()->json($query->paginate(25));
    }

    public function active(Request $request)
    {
        $rows = DB::select(
            'SELECT author_id, COUNT(*) AS n FROM posts WHERE created_at > ? AND board_id = ? GROUP BY author_id',
            [$request->input('since'), $request->input('board')]
        );
        return response()->json($rows);
    }

    public function update(Request $request, int $id)
    {
        $data = $request->validate(['body' => 'required|string|max:20000']);
        $post = Post::findOrFail($id);
        if ($post->author_id !== $request->user()->id) {
            abort(404);
        }
        $post->update($data);
        return response()->json($post);
    }

    public function destroy(Request $request, int $id)
    {
        $post = Post::where('id', $id)->where('author_id', $request->user()->id)->firstOrFail();
        $post->delete();
        return response()->noContent();
    }

    public function report(Request $request, int $id)
    {
        $reason = $request->input('reason');
        Log::build(['driver' => 'single', 'path' => storage_path('logs/reports.log')])
            ->info('post ' . $id . ' reported by ' . $request->user()->id . ': ' . $reason);
        return response()->noContent();
    }

    public function show(int $id)
    {
        return view('post.show', ['post' => Post::with('author')->findOrFail($id)]);
    }
}
