import createClient, { type Client } from 'openapi-fetch'
// Made at install: `npm run generate:api` makes it again.
import type { paths } from './api-types.ts'

interface ApiClientOptions {
  /** The platform's address, without `/v1`. */
  readonly baseUrl: string
  /** The key that the app was provisioned with. */
  readonly apiKey: string
}

/**
 * Makes a client of the API, whose paths, bodies and answers are typed by the OpenAPI document: `await
 * api.GET('/v1/products')` gives `{data}` or `{error}`, and throws when there is no answer. See the documentation of
 * openapi-fetch.
 */
export const apiClient = ({ baseUrl, apiKey }: ApiClientOptions): Client<paths> =>
  createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } })
