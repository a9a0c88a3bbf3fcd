<?php

namespace App\Http\Controllers;

use App\Models\Member;
use Illuminate\Http\Request;

class ProfileController extends Controller
{
    public function update(Request $request)
    {
        $member = $request->user();
        $member->update($request->all());
        return redirect()->route('profile.me');
    }

    public function preferences(Request $request)
    {
        $request->user()->update($request->only(['timezone', 'language', 'signature']));
        return redirect()->route('profile.me');
    }

    public function leave(Request $request)
    {
        $target = $request->query('to', '');
        $host = parse_url($target, PHP_URL_HOST);
        if (!preg_match('~^https?://~i', $target) || !$host) {
            abort(404);
        }
        return view('profile.leave', ['target' => $target, 'host' => $host]);
    }

    public function show(string $handle)
    {
        $member = Member::where('handle', $handle)->firstOrFail();
        return view('profile.show', ['member' => $member]);
    }

    public function suspend(Request $request, int $id)
    {
        $member = Member::findOrFail($id);
        $member->forceFill(['suspended_until' => now()->addDays((int) $request->input('days', 7))])->save();
        return response()->noContent();
    }
}
