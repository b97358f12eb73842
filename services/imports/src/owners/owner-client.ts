import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { ImportCheckAnswer, type Template } from '@backoffice/contracts/imports.ts'
import type { ProductStatus } from '@backoffice/contracts/product.ts'
import { type UrlSetting, urlSetting } from '@backoffice/contracts/services.ts'
import { INTERNAL_TOKEN_HEADER, tokenSigner } from '@backoffice/http/internal-token.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { Pool } from 'undici'
import type { RowPage } from '../rows/row-pages.ts'
import { OWNERS, type Owner } from './owners.ts'

/** The import in whose name an owner is asked. */
export interface AskingImport {
  readonly id: string
  readonly workspaceId: string
  readonly livemode: boolean
  readonly template: Template
  readonly productStatuses: readonly ProductStatus[]
}

/** The services that own the templates. */
export interface OwnerClient extends Component {
  /**
   * What applying the rows of a page would do now. Throws `service_unavailable` when the owner has no answer, also after some
   * repetitions. Throws the reason of the signal when it is aborted.
   */
  check(asking: AskingImport, page: RowPage, signal: AbortSignal): Promise<ImportCheckAnswer>
}

/** Calls under way to one owner, for all imports; others wait in their order. The owner has its own requests to answer. */
const CONNECTIONS = 3
const ANSWER_MS = 5_000
/** Pauses before another attempt, in milliseconds. */
const REPEAT_AFTER_MS = [100, 500, 1000]

/** Opens connections to the owners; `privateKey` signs the tokens of the calls (base64 DER PKCS8). */
export function ownerClient(urls: Readonly<Record<UrlSetting<Owner>, string>>, privateKey: string): OwnerClient {
  const sign = tokenSigner(privateKey)
  const owners = [...new Set(Object.values(OWNERS))]
  const open = (owner: Owner) =>
    new Pool(urls[urlSetting(owner)], {
      connections: CONNECTIONS,
      pipelining: 1,
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
    })
  const pools = Object.fromEntries(owners.map((owner) => [owner, open(owner)])) as Record<Owner, Pool>

  async function send(asking: AskingImport, body: string, signal: AbortSignal) {
    const { id, workspaceId, livemode, template, productStatuses } = asking
    const caller = { workspaceId, livemode, keyId: `import ${id}`, scopes: [], productStatuses: [...productStatuses] }
    const headers = {
      [INTERNAL_TOKEN_HEADER]: await sign(caller, new Date()),
      'content-type': 'application/json',
      traceparent: traceparentFrom(undefined),
    }
    const answer = await pools[OWNERS[template]].request({
      method: 'POST',
      path: '/internal/imports/check',
      headers,
      body,
      signal,
    })
    const answered = await answer.body.json()
    // The message of the answer may hold what is in the rows.
    if (answer.statusCode !== 200) throw new Error(`${OWNERS[template]} answered ${answer.statusCode}`)
    return ImportCheckAnswer.parse(answered)
  }

  return {
    name: 'owners',
    async check(asking, { read, earlier }, signal) {
      const { template, productStatuses } = asking
      // The rows are JSON already.
      const frame = JSON.stringify({ template, product_statuses: productStatuses, earlier })
      const body = `${frame.slice(0, -1)},"rows":[${read.map(({ json }) => json).join(',')}]}`
      for (let attempt = 0; ; attempt++) {
        try {
          return await send(asking, body, signal)
        } catch (cause) {
          signal.throwIfAborted()
          const wait = REPEAT_AFTER_MS[attempt]
          if (wait === undefined) {
            throw new ApiError('service_unavailable', `${OWNERS[template]} does not answer`, { cause })
          }
          await pause(wait, undefined, { signal })
        }
      }
    },
    async stop() {
      for (const pool of Object.values(pools)) await pool.destroy()
    },
  }
}
