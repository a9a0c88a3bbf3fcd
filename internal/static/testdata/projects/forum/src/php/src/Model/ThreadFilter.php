<?php

declare(strict_types=1);

namespace Forum\Model;

use Forum\Http\Request;

final class ThreadFilter
{
    public function __construct(
        public readonly string $term,
        public readonly int $boardId,
        public readonly string $sort,
        public readonly string $direction,
        public readonly array $tags,
        public readonly int $page,
    ) {
    }

    public static function fromRequest(Request $request): self
    {
        return new self(
            $request->text('q'),
            $request->int('board'),
            $request->text('sort', 'last_post_at'),
            strtolower($request->text('dir', 'desc')) === 'asc' ? 'ASC' : 'DESC',
            array_filter(explode(',', $request->text('tags'))),
            max(1, $request->int('page', 1)),
        );
    }

    public function offset(int $size): int
    {
        return ($this->page - 1) * $size;
    }
}
