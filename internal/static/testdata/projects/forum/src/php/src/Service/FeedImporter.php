<?php

declare(strict_types=1);

namespace Forum\Service;

use Psr\Log\LoggerInterface;
use Symfony\Component\Yaml\Yaml;

final class FeedImporter
{
    private const FEED_HOSTS = ['news.kaminrunde.example', 'planet.kaminrunde.example'];

    public function __construct(private readonly LoggerInterface $log)
    {
    }

    public function preview(string $address): array
    {
        $parts = parse_url($address);
        if (!in_array($parts['scheme'] ?? '', ['http', 'https'], true)) {
            return [];
        }
        $curl = curl_init($address);
        curl_setopt($curl, CURLOPT_RETURNTRANSFER, true);
        curl_setopt($curl, CURLOPT_TIMEOUT, 5);
        $html = (string) curl_exec($curl);
        if ($html === '') {
            $this->noteFailure($address, curl_error($curl));
        }
        curl_close($curl);
        preg_match('~<title>(.*?)</title>~is', $html, $title);
        return ['url' => $address, 'title' => html_entity_decode($title[1] ?? $address)];
    }

    public function partnerFeed(string $host, string $channel): string
    {
        if (!in_array($host, self::FEED_HOSTS, true)) {
            throw new \DomainException('Unknown partner');
        }
        $curl = curl_init('https://' . $host . '/feed/' . rawurlencode($channel));
        curl_setopt($curl, CURLOPT_RETURNTRANSFER, true);
        curl_setopt($curl, CURLOPT_FOLLOWLOCATION, false);
        return (string) curl_exec($curl);
    }

    public function parseOpml(string $xml): array
    {
        $dom = new \DOMDocument();
        $dom->loadXML($xml, LIBXML_NOENT | LIBXML_DTDLOAD);
        $found = [];
        foreach ($dom->getElementsByTagName('outline') as $node) {
            $found[] = ['title' => $node->getAttribute('text'), 'url' => $node->getAttribute('xmlUrl')];
        }
        return $found;
    }

    public function parseAtom(string $xml): array
    {
        $doc = simplexml_load_string($xml, \SimpleXMLElement::class, LIBXML_NONET | LIBXML_NOCDATA);
        $items = [];
        foreach ($doc->entry ?? [] as $entry) {
            $items[] = (string) $entry->title;
        }
        return $items;
    }

    public function restoreDraft(string $cookie): array
    {
        $draft = unserialize(base64_decode($cookie));
        return is_array($draft) ? $draft : [];
    }

    public function restoreLayout(string $stored): array
    {
        $layout = unserialize($stored, ['allowed_classes' => false]);
        return is_array($layout) ? $layout : [];
    }

    public function boardDefaults(string $yaml): array
    {
        return (array) Yaml::parse($yaml);
    }

    public function noteFailure(string $url, string $reason): void
    {
        $this->log->warning('feed failed', ['url' => str_replace(["\r", "\n"], ' ', $url), 'reason' => $reason]);
    }
}
