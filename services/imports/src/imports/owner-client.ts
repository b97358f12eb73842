import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { ImportCheckAnswer, ImportImages, ImportUndoProgress, type Template } from '@backoffice/contracts/imports.ts'
import type { ProductStatus } from '@backoffice/contracts/product.ts'
import { type CalledBy, type UrlSetting, urlSetting } from '@backoffice/contracts/services.ts'
import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { type CallShares, InternalCalls } from '@backoffice/http/internal-calls.ts'
import { readAnswer } from '@backoffice/http/read-answer.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { z } from 'zod'
import type { ReadRow, RowPage } from '../rows/row-pages.ts'
import type { ImportKey } from './import-row.ts'

type Owner = CalledBy<'imports'>

/** The service that owns each template: it checks its rows and applies them. */
export const OWNERS: Readonly<Record<Template, Owner>> = {
  products: 'catalog',
  product_variants: 'catalog',
  stock: 'catalog',
  categories: 'catalog',
  collections: 'collections',
  customers: 'orders',
}

/** The import in whose name an owner is asked. */
export interface AskingImport extends ImportKey {
  readonly template: Template
  readonly productStatuses: readonly ProductStatus[]
}

/** An owner that has requests answers them first (`give-way.ts`). */
const ANSWER_MS = 10_000
/** As long as an import whose owner is away is tried again (`retries.ts`). */
const TURN_MS = 10 * 60_000

/**
 * Calls under way to one owner, for all imports; others wait, and workspaces take turns. The owner has its own requests
 * to answer. Undos do not wait behind the checks of large files.
 */
const callsOf = (slots: number): CallShares => ({
  slots: { slots, share: 1, waiting: 1000, waitMs: TURN_MS },
  deadlineMs: TURN_MS + 2 * ANSWER_MS,
  answerMs: ANSWER_MS,
  refuse: () => new Error('others were asked about for too long'),
})
const CHECKS = callsOf(4)
const UNDOS = callsOf(2)
/** Pauses before another attempt, in milliseconds. */
const REPEAT_AFTER_MS = [100, 500, 1000]
/** A validation that has come so far waits longer, about a minute, since it would begin at row 1 again. */
const FAR = { row: 10_000, repeatAfterMs: [...REPEAT_AFTER_MS, 5_000, 15_000, 30_000] }

/** What clients ask for waits for no check and no undo. */
const SHARES: CallShares = {
  slots: { slots: 4, share: 1, most: 2, waiting: 32, waitMs: 2_000 },
  deadlineMs: 12_000,
  refuse: slotRefusals({
    owner: 'Too many requests of this workspace ask for the images of imports; send fewer at once',
    all: 'catalog has too many requests to answer',
  }),
}

/** The services that own the templates. */
export class OwnerClient implements Component {
  readonly name = 'owners'
  readonly #checks: ReadonlyMap<Owner, InternalCalls>
  readonly #undos: ReadonlyMap<Owner, InternalCalls>
  readonly #images: InternalCalls

  constructor(urls: Readonly<Record<UrlSetting<Owner>, string>>, signer: TokenSigner) {
    const open = (shares: CallShares) => {
      const callsTo = (owner: Owner) => new InternalCalls(owner, urls[urlSetting(owner)], signer, shares)
      return new Map([...new Set(Object.values(OWNERS))].map((owner) => [owner, callsTo(owner)]))
    }
    this.#checks = open(CHECKS)
    this.#undos = open(UNDOS)
    this.#images = new InternalCalls('catalog', urls.CATALOG_URL, signer, SHARES)
  }

  /**
   * What applying the rows of a page would do now; an owner may answer them in parts. Throws `service_unavailable` when
   * the owner has no answer, also after some repetitions. Throws the reason of the signal when it is aborted.
   */
  async check(
    asking: AskingImport,
    { read, earlier }: Pick<RowPage, 'read' | 'earlier'>,
    signal: AbortSignal,
  ): Promise<ImportCheckAnswer> {
    const { template, productStatuses } = asking
    // The rows are JSON already.
    const frame = JSON.stringify({ template, product_statuses: productStatuses, earlier, in_parts: true })
    const repeats = read.some(({ row }) => row > FAR.row) ? FAR.repeatAfterMs : REPEAT_AFTER_MS
    const parts: ImportCheckAnswer[] = []
    for (let left: readonly ReadRow[] = read; left.length > 0; ) {
      const body = `${frame.slice(0, -1)},"rows":[${left.map(({ json }) => json).join(',')}]}`
      const part = await this.#ask(asking, 'check', body, ImportCheckAnswer, signal, repeats)
      parts.push(part)
      const { created, updated, unchanged, failed } = part
      const answered = new Set([...created, ...updated, ...unchanged, ...failed.map(({ row }) => row)])
      if (answered.size === 0) break
      left = left.filter(({ row }) => !answered.has(row))
    }
    const rowsOf = (kind: 'created' | 'updated' | 'unchanged') =>
      parts.flatMap((part) => part[kind]).toSorted((one, other) => one - other)
    const failed = parts.flatMap((part) => part.failed)
    return { created: rowsOf('created'), updated: rowsOf('updated'), unchanged: rowsOf('unchanged'), failed }
  }

  /** Undoes the next changes of the import; undefined when the owner keeps nothing of it. Throws as `check`. */
  undo(asking: AskingImport, signal: AbortSignal): Promise<ImportUndoProgress | undefined> {
    const body = JSON.stringify({ import_id: asking.id, template: asking.template })
    return this.#ask(asking, 'undo', body, ImportUndoProgress.optional(), signal)
  }

  /**
   * What became of the images of the import, which only one of products has. Throws `service_unavailable` when catalog
   * does not answer, `rate_limited` when the workspace asks too often at once.
   */
  async images(asking: AskingImport): Promise<ImportImages> {
    try {
      const body = { import_id: asking.id }
      return readAnswer(ImportImages, await send(this.#images, asking, '/internal/imports/images', body))
    } catch (cause) {
      throw cause instanceof ApiError ? cause : this.#silent(asking, cause)
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#images, ...this.#checks.values(), ...this.#undos.values()].map((each) => each.stop()))
  }

  /** Sends a request that may be repeated, and repeats it a few times until its answer has the shape. */
  async #ask<Answer>(
    asking: AskingImport,
    what: 'check' | 'undo',
    body: string,
    answer: z.ZodType<Answer>,
    signal: AbortSignal,
    repeats = REPEAT_AFTER_MS,
  ): Promise<Answer> {
    const calls = (what === 'check' ? this.#checks : this.#undos).get(OWNERS[asking.template]) as InternalCalls
    for (let attempt = 0; ; attempt++) {
      try {
        return readAnswer(answer, await send(calls, asking, `/internal/imports/${what}`, body, signal))
      } catch (cause) {
        signal.throwIfAborted()
        const wait = repeats[attempt]
        if (wait === undefined) throw this.#silent(asking, cause)
        await pause(wait, undefined, { signal })
      }
    }
  }

  #silent = ({ template }: AskingImport, cause: unknown) =>
    new ApiError('service_unavailable', `${OWNERS[template]} does not answer`, { cause })
}

/** Sends a request. Returns undefined for an answer 404. */
async function send(
  calls: InternalCalls,
  { id, workspaceId, livemode, template, productStatuses }: AskingImport,
  path: `/internal/${string}`,
  body: unknown,
  signal?: AbortSignal,
) {
  const caller = { workspaceId, livemode, keyId: `import ${id}`, productStatuses: [...productStatuses] }
  const answer = await calls.request({ caller, method: 'POST', path, body, ...(signal && { signal }) })
  if (answer.statusCode === 404) return undefined
  // The message of the answer may hold what is in the rows.
  if (answer.statusCode !== 200) throw new Error(`${OWNERS[template]} answered ${answer.statusCode}`)
  return answer.body
}
