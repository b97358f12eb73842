import { INTERNAL_TOKEN_HEADER } from '@backoffice/http/internal-token.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../authorization/client-address.ts'
import { headersForClient, headersForService } from './headers.ts'
import { NO_BODY, type ReceivedBody } from './receive-body.ts'
import type { Upstream } from './upstream.ts'

interface PassedOn {
  /** Whose slot it takes. */
  readonly owner: string
  readonly path: string
  /** The internal token; none for what is public. */
  readonly token?: string
  readonly body?: ReceivedBody
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
}

/** Sends a request to a service and streams the answer back. Stops when the client closes the connection. */
export async function passOn(
  upstream: Upstream,
  { raw, method, id }: FastifyRequest,
  reply: FastifyReply,
  { owner, path, token, body = NO_BODY, signal }: PassedOn,
) {
  const headers = {
    ...headersForService(raw.headers),
    ...(token !== undefined && { [INTERNAL_TOKEN_HEADER]: token }),
    'x-request-id': id,
    traceparent: traceparentFrom(raw.headers.traceparent),
  }
  const answer = await upstream.send({ owner, method, path, headers, body: body.content, signal }).finally(body.release)
  return reply.code(answer.statusCode).headers(headersForClient(answer.headers)).send(answer.body)
}

/** Passes on a request without a key, which takes a slot of its client's address. */
export const passOnPublic = (upstream: Upstream, request: FastifyRequest, reply: FastifyReply, path: string) =>
  passOn(upstream, request, reply, { owner: clientOf(request.ip), path, signal: clientGone(reply) })

/** A signal that aborts when the client closes the connection before it has its answer. */
export function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (raw.destroyed) gone.abort()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
