<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

class Member extends Model
{
    protected $table = 'members';

    protected $guarded = [];

    protected $hidden = ['password_hash', 'reset_token'];

    public function posts()
    {
        return $this->hasMany(Post::class, 'author_id');
    }
}
