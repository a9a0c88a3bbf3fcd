<?php

declare(strict_types=1);

namespace Forum\Repository;

use PDO;

final class MemberRepository
{
    public function __construct(private readonly PDO $pdo)
    {
    }

    public function byHandle(string $handle): ?array
    {
        $stmt = $this->pdo->prepare('SELECT * FROM members WHERE handle = ?');
        $stmt->execute([$handle]);
        return $stmt->fetch() ?: null;
    }

    public function byId(int $id): ?array
    {
        $stmt = $this->pdo->prepare('SELECT * FROM members WHERE id = ?');
        $stmt->execute([$id]);
        return $stmt->fetch() ?: null;
    }

    public function setPasswordHash(int $id, string $hash): void
    {
        $this->pdo->prepare('UPDATE members SET password_hash = ? WHERE id = ?')->execute([$hash, $id]);
    }

    public function storeResetToken(int $id, string $token): void
    {
        $this->pdo->prepare(
            'UPDATE members SET reset_token = ?, reset_until = DATE_ADD(NOW(), INTERVAL 1 HOUR) WHERE id = ?'
        )->execute([$token, $id]);
    }

    public function storeRememberToken(int $id, string $hash): void
    {
        $this->pdo->prepare('INSERT INTO remember_tokens (member_id, token_hash, created_at) VALUES (?, ?, NOW())')
            ->execute([$id, $hash]);
    }

    public function karma(int $id): int
    {
        $stmt = $this->pdo->prepare('SELECT karma FROM members WHERE id = ?');
        $stmt->execute([$id]);
        return (int) $stmt->fetchColumn();
    }

    public function transferKarma(int $from, int $to, int $amount): bool
    {
        $amount = max(1, $amount);
        if ($this->karma($from) < $amount) {
            return false;
        }
        $this->pdo->prepare('UPDATE members SET karma = karma - ? WHERE id = ?')->execute([$amount, $from]);
        $this->pdo->prepare('UPDATE members SET karma = karma + ? WHERE id = ?')->execute([$amount, $to]);
        return true;
    }

    public function keepsBoard(int $memberId, int $boardId): bool
    {
        $stmt = $this->pdo->prepare('SELECT 1 FROM board_keepers WHERE member_id = ? AND board_id = ?');
        $stmt->execute([$memberId, $boardId]);
        return (bool) $stmt->fetchColumn();
    }

    public function ofBoard(int $boardId): array
    {
        $stmt = $this->pdo->prepare(
            'SELECT m.id, m.handle, m.email FROM members m JOIN subscriptions s ON s.member_id = m.id WHERE s.board_id = ?'
        );
        $stmt->execute([$boardId]);
        return $stmt->fetchAll();
    }

    public function redeemInvite(string $code, int $memberId): bool
    {
        $stmt = $this->pdo->prepare(
            'UPDATE invites SET used_by = ?, used_at = NOW() WHERE code = ? AND used_by IS NULL'
        );
        $stmt->execute([$memberId, $code]);
        return $stmt->rowCount() === 1;
    }
}
