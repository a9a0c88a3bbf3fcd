<?php

declare(strict_types=1);

namespace Forum\Service;

use Twig\Environment;

final class Mailer
{
    public function __construct(private readonly Environment $twig)
    {
    }

    public function send(string $to, string $template, array $vars): void
    {
        $allowed = ['reset', 'digest', 'welcome', 'report'];
        if (!in_array($template, $allowed, true)) {
            throw new \InvalidArgumentException('unknown mail');
        }
        $html = $this->twig->render("mail/$template.html.twig", $vars);
        mail($to, 'Kaminrunde', $html, ['Content-Type' => 'text/html; charset=utf-8', 'From' => 'forum@kaminrunde.example']);
    }

    public function sendAnnouncement(array $recipients, string $text, array $board): void
    {
        foreach ($recipients as $member) {
            $body = $this->twig->createTemplate($text)->render(['member' => $member, 'board' => $board]);
            mail($member['email'], 'News from ' . $board['name'], $body, ['Content-Type' => 'text/html; charset=utf-8']);
        }
    }
}
