<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

class Post extends Model
{
    protected $table = 'posts';

    protected $fillable = ['thread_id', 'body', 'quote_of'];

    public function author()
    {
        return $this->belongsTo(Member::class, 'author_id');
    }

    public function scopeMatching($query, array $criteria)
    {
        foreach ($criteria as $column => $value) {
            if (in_array($column, ['thread_id', 'author_id', 'state'], true)) {
                $query->where($column, $value);
            }
        }
        return $query;
    }
}
