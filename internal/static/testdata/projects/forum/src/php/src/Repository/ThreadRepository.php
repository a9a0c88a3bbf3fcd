<?php

declare(strict_types=1);

namespace Forum\Repository;

use Forum\Model\ThreadFilter;
use PDO;

final class ThreadRepository
{
    private const PAGE_SIZE = 30;

    private const MEMBER_SORTS = [
        'new' => 't.created_at',
        'active' => 't.last_post_at',
        'replies' => 't.reply_count',
    ];

    public function __construct(private readonly PDO $pdo)
    {
    }

    public function find(int $id): ?array
    {
        $stmt = $this->pdo->prepare('SELECT * FROM threads WHERE id = :id AND deleted_at IS NULL');
        $stmt->execute(['id' => $id]);
        return $stmt->fetch() ?: null;
    }

    public function list(ThreadFilter $filter): array
    {
        $where = ['t.deleted_at IS NULL'];
        $params = [];
        if ($filter->term !== '') {
            $where[] = 't.title LIKE :term';
            $params['term'] = '%' . $filter->term . '%';
        }
        if ($filter->boardId > 0) {
            $where[] = 't.board_id = ' . $filter->boardId;
        }
        $sql = 'SELECT t.*, m.handle FROM threads t JOIN members m ON m.id = t.author_id WHERE '
            . implode(' AND ', $where)
            . ' ORDER BY t.' . $filter->sort . ' ' . $filter->direction
            . sprintf(' LIMIT %d OFFSET %d', self::PAGE_SIZE, $filter->offset(self::PAGE_SIZE));
        $stmt = $this->pdo->prepare($sql);
        $stmt->execute($params);
        return $stmt->fetchAll();
    }

    public function byMember(int $memberId, string $sort): array
    {
        $column = self::MEMBER_SORTS[$sort] ?? self::MEMBER_SORTS['new'];
        $stmt = $this->pdo->prepare(
            "SELECT t.id, t.title, t.created_at FROM threads t WHERE t.author_id = ? ORDER BY $column DESC"
        );
        $stmt->execute([$memberId]);
        return $stmt->fetchAll();
    }

    public function withTags(array $tags): array
    {
        if ($tags === []) {
            return [];
        }
        $marks = implode(',', array_fill(0, count($tags), '?'));
        $stmt = $this->pdo->prepare(
            "SELECT DISTINCT t.* FROM threads t JOIN thread_tags g ON g.thread_id = t.id
              WHERE g.tag IN ($marks) AND t.deleted_at IS NULL"
        );
        $stmt->execute(array_values($tags));
        return $stmt->fetchAll();
    }

    public function countByTags(array $tags): array
    {
        $quoted = array_map(fn (string $tag) => $this->pdo->quote(strtolower($tag)), $tags);
        $sql = 'SELECT tag, COUNT(*) AS n FROM thread_tags';
        if ($quoted) {
            $sql .= ' WHERE tag IN (' . implode(', ', $quoted) . ')';
        }
        return $this->pdo->query($sql . ' GROUP BY tag')->fetchAll(PDO::FETCH_KEY_PAIR);
    }

    public function archiveBoard(int $boardId, string $before): int
    {
        $day = \DateTimeImmutable::createFromFormat('!Y-m-d', $before);
        if ($day === false) {
            throw new \InvalidArgumentException('bad date');
        }
        return (int) $this->pdo->exec(
            "UPDATE threads SET archived = 1 WHERE board_id = $boardId AND last_post_at < '"
            . $day->format('Y-m-d')
            . "'"
        );
    }

    public function insert(int $authorId, int $boardId, string $title, string $body): int
    {
        $stmt = $this->pdo->prepare(
            'INSERT INTO threads (author_id, board_id, title, body_html, created_at) VALUES (?, ?, ?, ?, NOW())'
        );
        $stmt->execute([$authorId, $boardId, $title, $body]);
        return (int) $this->pdo->lastInsertId();
    }
}
