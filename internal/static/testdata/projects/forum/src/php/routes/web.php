<?php

use App\Http\Controllers\PostController;
use App\Http\Controllers\ProfileController;
use Illuminate\Support\Facades\Route;

Route::get('/posts/{id}', [PostController::class, 'show']);
Route::get('/members/{handle}', [ProfileController::class, 'show']);
Route::get('/leave', [ProfileController::class, 'leave']);

Route::middleware(['auth', 'throttle:60,1'])->group(function () {
    Route::get('/posts', [PostController::class, 'index']);
    Route::get('/posts-search', [PostController::class, 'search']);
    Route::get('/posts-active', [PostController::class, 'active']);
    Route::put('/posts/{id}', [PostController::class, 'update']);
    Route::delete('/posts/{id}', [PostController::class, 'destroy']);
    Route::post('/posts/{id}/report', [PostController::class, 'report']);
    Route::post('/me', [ProfileController::class, 'update']);
    Route::post('/me/preferences', [ProfileController::class, 'preferences']);
});

Route::middleware(['auth', 'can:moderate'])->group(function () {
    Route::post('/members/{id}/suspend', [ProfileController::class, 'suspend']);
});
