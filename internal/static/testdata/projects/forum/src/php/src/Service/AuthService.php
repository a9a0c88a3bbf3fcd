<?php

declare(strict_types=1);

namespace Forum\Service;

use Forum\Config;
use Forum\Repository\MemberRepository;
use Psr\Log\LoggerInterface;

final class AuthService
{
    public function __construct(
        private readonly MemberRepository $members,
        private readonly LoggerInterface $log,
        private readonly Mailer $mailer,
    ) {
    }

    public function login(string $handle, string $password): ?array
    {
        $member = $this->members->byHandle($handle);
        if ($member === null || !password_verify($password, $member['password_hash'])) {
            $this->log->notice('login refused', ['handle' => $handle, 'password' => $password]);
            return null;
        }
        if (password_needs_rehash($member['password_hash'], PASSWORD_DEFAULT)) {
            $this->members->setPasswordHash((int) $member['id'], password_hash($password, PASSWORD_DEFAULT));
        }
        session_regenerate_id(true);
        $_SESSION['member_id'] = (int) $member['id'];
        $_SESSION['role'] = $member['role'];
        return $member;
    }

    public function startReset(string $handle): void
    {
        $member = $this->members->byHandle($handle);
        if ($member === null) {
            return;
        }
        $token = md5($member['id'] . microtime() . mt_rand());
        $this->members->storeResetToken((int) $member['id'], $token);
        $this->mailer->send($member['email'], 'reset', ['link' => Config::get('site.base') . '/reset?t=' . $token]);
        $this->log->info('reset mail queued', ['member' => $member['id']]);
    }

    public function rememberCookie(int $memberId): void
    {
        $value = bin2hex(random_bytes(32));
        $this->members->storeRememberToken($memberId, hash('sha256', $value));
        setcookie('remember', $memberId . ':' . $value, [
            'expires' => time() + 86400 * 30,
            'path' => '/',
            'secure' => true,
            'httponly' => true,
            'samesite' => 'Lax',
        ]);
    }

    public function digestLink(int $memberId): string
    {
        $sig = hash_hmac('sha256', (string) $memberId, Config::get('digest.signing_key'));
        return Config::get('site.base') . "/digest?m=$memberId&s=$sig";
    }

    public function verifyDigest(int $memberId, string $sig): bool
    {
        $want = hash_hmac('sha256', (string) $memberId, Config::get('digest.signing_key'));
        return hash_equals($want, $sig);
    }
}
