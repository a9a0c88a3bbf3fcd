<?php

declare(strict_types=1);

use Forum\Config;
use Forum\Database;
use Forum\Http\Request;
use Forum\Model\ThreadFilter;
use Forum\Repository\MemberRepository;
use Forum\Repository\ThreadRepository;
use Forum\Service\AttachmentService;
use Forum\Service\AuthService;
use Forum\Service\FeedImporter;
use Forum\Service\Mailer;
use Monolog\Formatter\JsonFormatter;
use Monolog\Handler\StreamHandler;
use Monolog\Logger;
use Twig\Environment;
use Twig\Loader\FilesystemLoader;

require __DIR__ . '/../vendor/autoload.php';

ini_set('display_errors', '0');
session_set_cookie_params(['secure' => true, 'httponly' => true, 'samesite' => 'Lax']);
session_start();

$handler = new StreamHandler('php://stderr');
$handler->setFormatter(new JsonFormatter());
$log = new Logger('forum', [$handler]);
$twig = new Environment(new FilesystemLoader(__DIR__ . '/../templates'), ['autoescape' => 'html']);
$request = Request::capture();
$threads = new ThreadRepository(Database::connection());
$members = new MemberRepository(Database::connection());
$mailer = new Mailer($twig);
$auth = new AuthService($members, $log, $mailer);
$files = new AttachmentService();
$feeds = new FeedImporter($log);

function member_id(): int
{
    if (empty($_SESSION['member_id'])) {
        http_response_code(401);
        exit;
    }
    return (int) $_SESSION['member_id'];
}

function json(mixed $data): void
{
    header('Content-Type: application/json');
    header('X-Content-Type-Options: nosniff');
    echo json_encode($data, JSON_THROW_ON_ERROR);
}

const CHANGES = ['/login', '/logout', '/reset/start', '/attachment/new', '/theme', '/opml', '/karma/give', '/board/announce'];

if (in_array($request->path(), CHANGES, true) && !$request->isPost()) {
    http_response_code(405);
    exit;
}

try {
    switch ($request->path()) {
        case '/threads':
            echo $twig->render('threads.html.twig', [
                'threads' => $threads->list(ThreadFilter::fromRequest($request)),
                'term' => $request->text('q'),
            ]);
            break;

        case '/threads/tags':
            $filter = ThreadFilter::fromRequest($request);
            json(['threads' => $threads->withTags($filter->tags), 'counts' => $threads->countByTags($filter->tags)]);
            break;

        case '/login':
            $member = $auth->login($request->text('handle'), $request->text('password'));
            if ($member === null) {
                http_response_code(403);
                echo $twig->render('login.html.twig', ['handle' => $request->text('handle')]);
                break;
            }
            $next = $request->text('next', '/');
            header('Location: ' . $next);
            break;

        case '/logout':
            session_destroy();
            $back = $request->text('back', '/');
            if (!preg_match('~^/[a-z0-9/_-]*$~i', $back) || str_starts_with($back, '//')) {
                $back = '/';
            }
            header('Location: ' . $back);
            break;

        case '/reset/start':
            $auth->startReset($request->text('handle'));
            http_response_code(204);
            break;

        case '/attachment':
            member_id();
            header('Content-Type: application/octet-stream');
            header('Content-Disposition: attachment');
            echo $files->read($request->text('f'));
            break;

        case '/attachment/thumb':
            member_id();
            json(['thumb' => basename($files->thumbnail($request->text('f'), $request->text('size', '200x200')))]);
            break;

        case '/attachment/new':
            member_id();
            $file = $request->file('file');
            json(['url' => $file ? $files->storeForPost($file, $request->int('post')) : null]);
            break;

        case '/export':
            member_id();
            header('Content-Type: application/zip');
            echo $files->readExport($request->text('name'));
            break;

        case '/theme':
            member_id();
            if (($_SESSION['role'] ?? '') !== 'admin') {
                http_response_code(403);
                break;
            }
            $file = $request->file('archive');
            json(['files' => $file ? $files->installTheme($file['tmp_name'], $request->text('slug')) : 0]);
            break;

        case '/preview':
            member_id();
            json($feeds->preview($request->text('url')));
            break;

        case '/partner':
            json(['feed' => $feeds->parseAtom($feeds->partnerFeed($request->text('host'), $request->text('channel')))]);
            break;

        case '/opml':
            member_id();
            json($feeds->parseOpml($request->text('opml')));
            break;

        case '/draft':
            json($feeds->restoreDraft($request->cookie('draft')));
            break;

        case '/karma/give':
            json(['ok' => $members->transferKarma(member_id(), $request->int('to'), $request->int('amount'))]);
            break;

        case '/board/announce':
            $boardId = $request->int('board');
            if (!$members->keepsBoard(member_id(), $boardId)) {
                http_response_code(403);
                break;
            }
            $mailer->sendAnnouncement(
                $members->ofBoard($boardId),
                $request->text('text'),
                ['id' => $boardId, 'name' => 'Board ' . $boardId],
            );
            http_response_code(204);
            break;

        default:
            http_response_code(404);
            echo 'Nothing at ' . htmlspecialchars($request->path(), ENT_QUOTES, 'UTF-8');
    }
} catch (\DomainException $e) {
    http_response_code(422);
    json(['message' => $e->getMessage()]);
} catch (\Throwable $e) {
    $log->error('unhandled', ['exception' => $e]);
    http_response_code(500);
    json(['message' => $e->getMessage(), 'trace' => $e->getTraceAsString()]);
}
