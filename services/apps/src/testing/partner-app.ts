import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { type Received, type Receiver, startReceiver } from '@backoffice/testing/receiver.ts'
import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose'

/** A request of the platform to an app. */
export interface PlatformRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
  readonly token: string
  readonly header: ProtectedHeaderParameters
  readonly claims: JWTPayload
}

/** An app of a partner on loopback, with a provider of its own. It acknowledges everything until `answerWith`. */
export interface PartnerApp {
  readonly provider: string
  readonly origin: string
  readonly manifest: AppManifest
  /** The requests to a path so far, oldest first. */
  requests(path: string): PlatformRequest[]
  /** The deliveries to a path so far, oldest first. */
  received(path: string): Received[]
  answerWith: Receiver['answerWith']
  /** Answers later requests with a status and a body of JSON. */
  answer(status: number, body?: unknown): void
}

export async function partnerApp(differences: Partial<AppManifest> = {}): Promise<PartnerApp> {
  const receiver = await startReceiver()
  const provider = `app-${crypto.randomUUID()}`
  const manifest = { provider, scopes: ['app::read', 'product::read'], embed: '/embed', ...differences }
  const answer = (status: number, body?: unknown) =>
    receiver.answerWith((response: ServerResponse) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body)),
    )
  return {
    provider,
    manifest,
    origin: receiver.url,
    received: (path) => receiver.requests.filter((request) => request.path === path),
    answerWith: receiver.answerWith,
    answer,
    requests: (path) =>
      receiver.requests
        .filter((request) => request.path === path)
        .map(({ headers, body }) => {
          const token = String(headers.authorization).replace(/^Bearer /, '')
          return {
            path,
            headers,
            body: JSON.parse(body.toString()),
            token,
            header: decodeProtectedHeader(token),
            claims: decodeJwt(token),
          }
        }),
  }
}
