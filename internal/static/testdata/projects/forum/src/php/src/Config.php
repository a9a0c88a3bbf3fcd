<?php

declare(strict_types=1);

namespace Forum;

final class Config
{
    private const DEFAULTS = [
        'db.dsn' => 'mysql:host=db;dbname=forum;charset=utf8mb4',
        'db.user' => 'forum',
        'storage.attachments' => '/var/forum/attachments',
        'storage.exports' => '/var/forum/exports',
        'storage.themes' => '/var/forum/themes',
        'site.base' => 'https://forum.kaminrunde.example',
    ];

    public static function get(string $key): string
    {
        $env = getenv(strtoupper(str_replace('.', '_', $key)));
        if ($env !== false) {
            return $env;
        }
        return self::DEFAULTS[$key] ?? throw new \RuntimeException("missing setting $key");
    }

    public static function dbPassword(): string
    {
        $file = getenv('DB_PASSWORD_FILE') ?: '/run/secrets/db_password';
        return trim((string) file_get_contents($file));
    }
}
