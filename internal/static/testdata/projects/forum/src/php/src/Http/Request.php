<?php

declare(strict_types=1);

namespace Forum\Http;

final class Request
{
    private function __construct(
        private readonly array $query,
        private readonly array $body,
        private readonly array $files,
        private readonly array $server,
        private readonly array $cookies,
    ) {
    }

    public static function capture(): self
    {
        $body = $_POST;
        if (str_contains($_SERVER['CONTENT_TYPE'] ?? '', 'application/json')) {
            $body = json_decode((string) file_get_contents('php://input'), true) ?: [];
        }
        return new self($_GET, $body, $_FILES, $_SERVER, $_COOKIE);
    }

    public function text(string $name, string $default = ''): string
    {
        $value = $this->body[$name] ?? $this->query[$name] ?? $default;
        return is_string($value) ? trim($value) : $default;
    }

    public function int(string $name, int $default = 0): int
    {
        return (int) ($this->body[$name] ?? $this->query[$name] ?? $default);
    }

    public function all(): array
    {
        return $this->body;
    }

    public function file(string $name): ?array
    {
        $file = $this->files[$name] ?? null;
        return $file !== null && $file['error'] === UPLOAD_ERR_OK ? $file : null;
    }

    public function cookie(string $name): string
    {
        return (string) ($this->cookies[$name] ?? '');
    }

    public function header(string $name): string
    {
        return (string) ($this->server['HTTP_' . strtoupper(str_replace('-', '_', $name))] ?? '');
    }

    public function isPost(): bool
    {
        return ($this->server['REQUEST_METHOD'] ?? 'GET') === 'POST';
    }

    public function path(): string
    {
        return (string) parse_url($this->server['REQUEST_URI'] ?? '/', PHP_URL_PATH);
    }
}
