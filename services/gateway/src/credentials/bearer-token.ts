import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, type ErrorReason } from '@backoffice/contracts/errors.ts'
import { isRepeated } from '@backoffice/http/repeated-header.ts'
import type { FastifyInstance } from 'fastify'

/** 401 with the challenge that HTTP requires. */
export const invalidApiKey = (message: string, errorReason?: ErrorReason<'invalid_api_key'>): ApiError =>
  new ApiError('invalid_api_key', message, { headers: { 'www-authenticate': 'Bearer' }, errorReason })

/** The token of an `Authorization: Bearer` header; undefined for any other text. */
export const tokenIn = (authorization: string): string | undefined => /^Bearer +(\S+) *$/i.exec(authorization)?.[1]

/** As `tokenIn`; undefined without the header. Throws `invalid_api_key` for another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const token = tokenIn(authorization)
  if (token === undefined) throw invalidApiKey('Authorization: must be Bearer <API_KEY>')
  return token
}

/**
 * Refuses requests with two Authorization headers as `invalid_api_key`, as those whose headers carry different keys
 * (OP-05). Node reads the first alone, and a proxy before the gateway may have checked the other.
 */
export function refuseTwoCredentials(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    if (isRepeated(raw, 'authorization')) throw invalidApiKey('Send one Authorization header')
  })
}

/**
 * The API key in a request's `Authorization: Bearer` or `X-Api-Key`. Throws `invalid_api_key` when there is none, and
 * when the two headers carry different keys (spec: Authentication 1; OP-05), or the token of a session of the console,
 * which only its cookie may carry (OP-309).
 */
export function presentedKey(headers: IncomingHttpHeaders): string {
  bearerToken(headers.authorization)
  const key = presentedText(headers)
  if (key === undefined) throw invalidApiKey('Send an API key: Authorization: Bearer <API_KEY>', 'key_missing')
  if (key !== (headers['x-api-key'] ?? key)) {
    throw invalidApiKey('Authorization and X-Api-Key carry different keys; send one of them')
  }
  if (key.startsWith('cs_')) throw invalidApiKey('This is a session of the console; send an API key')
  return key
}

/** The text that `presentedKey` would return or refuse; undefined without one. */
export const presentedText = ({ authorization = '', 'x-api-key': key }: IncomingHttpHeaders): string | undefined =>
  tokenIn(authorization) ?? (key as string | undefined)
