<?php

declare(strict_types=1);

namespace Forum\Service;

use Forum\Config;
use ZipArchive;

final class AttachmentService
{
    private const IMAGE_TYPES = ['image/png' => 'png', 'image/jpeg' => 'jpg', 'image/webp' => 'webp'];

    private string $root;

    public function __construct()
    {
        $this->root = Config::get('storage.attachments');
    }

    public function storeAvatar(array $file, int $memberId): string
    {
        $info = new \finfo(FILEINFO_MIME_TYPE);
        $type = $info->file($file['tmp_name']);
        if (!isset(self::IMAGE_TYPES[$type]) || $file['size'] > 512 * 1024) {
            throw new \DomainException('Only small PNG, JPEG or WebP pictures');
        }
        $target = sprintf('%s/avatars/%d.%s', $this->root, $memberId, self::IMAGE_TYPES[$type]);
        move_uploaded_file($file['tmp_name'], $target);
        return basename($target);
    }

    public function storeForPost(array $file, int $postId): string
    {
        $dir = dirname(__DIR__, 2) . '/public/files/' . $postId;
        if (!is_dir($dir)) {
            mkdir($dir, 0750, true);
        }
        $name = basename($file['name']);
        move_uploaded_file($file['tmp_name'], $dir . '/' . $name);
        return "/files/$postId/$name";
    }

    public function read(string $relative): string
    {
        $full = realpath($this->root . '/' . $relative);
        if ($full === false || !str_starts_with($full, $this->root . DIRECTORY_SEPARATOR)) {
            throw new \DomainException('No such attachment');
        }
        return (string) file_get_contents($full);
    }

    public function readExport(string $name): string
    {
        $clean = str_replace('../', '', $name);
        $path = Config::get('storage.exports') . '/' . $clean;
        if (!is_file($path)) {
            throw new \DomainException('Export has expired');
        }
        return (string) file_get_contents($path);
    }

    public function installTheme(string $zipPath, string $slug): int
    {
        $zip = new ZipArchive();
        $zip->open($zipPath);
        $base = Config::get('storage.themes') . '/' . preg_replace('/[^a-z0-9-]/', '', $slug);
        $count = 0;
        for ($i = 0; $i < $zip->numFiles; $i++) {
            $entry = $zip->getNameIndex($i);
            if (str_ends_with($entry, '/')) {
                continue;
            }
            $target = $base . '/' . $entry;
            @mkdir(dirname($target), 0755, true);
            file_put_contents($target, $zip->getFromIndex($i));
            $count++;
        }
        $zip->close();
        return $count;
    }

    public function unpackSmileys(string $zipPath): array
    {
        $zip = new ZipArchive();
        $zip->open($zipPath);
        $written = [];
        for ($i = 0; $i < $zip->numFiles; $i++) {
            $name = basename($zip->getNameIndex($i));
            if (!preg_match('/^[a-z0-9_]{1,30}\.(png|gif)$/', $name)) {
                continue;
            }
            file_put_contents($this->root . '/smileys/' . $name, $zip->getFromIndex($i));
            $written[] = $name;
        }
        $zip->close();
        return $written;
    }

    public function thumbnail(string $stored, string $geometry): string
    {
        $out = $this->root . '/thumbs/' . basename($stored);
        $command = ['convert', escapeshellarg($this->root . '/' . basename($stored)), '-resize', $geometry, escapeshellarg($out)];
        exec(implode(' ', $command), $lines, $code);
        return $code === 0 ? $out : $stored;
    }

    public function pageCount(string $stored): int
    {
        exec('pdfinfo ' . escapeshellarg($this->root . '/' . basename($stored)) . " | awk '/^Pages/ {print $2}'", $lines);
        return (int) ($lines[0] ?? 0);
    }
}
