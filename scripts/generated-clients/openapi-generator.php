<?php

/** A round of calls with the client for PHP of openapi-generator. Arguments: the address of the service, a token, a user. */

use OpenAPI\Client\Api\AdministratorApi;
use OpenAPI\Client\Api\EventsApi;
use OpenAPI\Client\Api\SenderApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\CheckReqMessage;
use OpenAPI\Client\Model\CommitReq;
use OpenAPI\Client\Model\ConsumeReq;
use OpenAPI\Client\Model\CreateQuotaReq;
use OpenAPI\Client\Model\ReserveReq;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = 'lib/' . str_replace(['OpenAPI\\Client\\', '\\'], ['', '/'], $class) . '.php';
    if (is_file($file)) require $file;
});

[, $url, $token, $user] = $argv;
$user = (int) $user;
$config = (new Configuration())->setHost($url)->setAccessToken($token);
$admin = new AdministratorApi(config: $config);
$sender = new SenderApi(config: $config);

$quota = $admin->createQuota(new CreateQuotaReq(['user_id' => $user, 'limit' => 3, 'period' => 'month']));
if ($quota->getExpiresAt() !== null || $quota->getLimit() !== 3) throw new Exception("$quota");
$message = new CheckReqMessage(['to' => '+4915112345678', 'text' => str_repeat('x', 161)]);
$granted = $sender->reserve(new ReserveReq(['user_id' => $user, 'id' => 'm-1', 'message' => $message]));
$settled = $sender->commit(new CommitReq(['user_id' => $user, 'id' => 'm-1']));
$denied = $sender->consume(new ConsumeReq(['user_id' => $user, 'id' => 'm-2', 'units' => 5]));
$summary = $admin->summarizeQuotasOfUser($user);
$event = (new EventsApi(config: $config))->listEvents(user_id: $user, last: 1)->getItems()[0];
try {
    $sender->getReservation($user, 'none');
    $code = 'found';
} catch (ApiException $error) {
    $code = $error->getCode() . ' ' . $error->getResponseObject()->getCode();
}
echo "[{$granted->getUnits()}, {$settled->getCommitted()}, {$denied->getReason()}, {$summary->getRemaining()}, {$event->getType()}, $code]";
