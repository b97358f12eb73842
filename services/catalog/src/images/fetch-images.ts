import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Database, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { isLockTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { type WorkInTurn, workspacesInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { retry } from '@backoffice/runtime/retry.ts'
import { delayAfter } from '@backoffice/runtime/retry-schedule.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { filesOfRow } from '@backoffice/storage/files-of-row.ts'
import { refuseTooManyBytes } from '@backoffice/storage/stored-bytes.ts'
import { NoTurn } from '../assets/image-work.ts'
import { insertAsset, pathsOf, type StoredAsset } from '../assets/store-asset.ts'
import { planMedia } from '../products/plan-media.ts'
import { oneChangeOn } from '../products/plan-update.ts'
import { lockAndRead } from '../products/read-products.ts'
import { writeProducts } from '../products/write-products.ts'
import { fetchImage, type ImageFetching, whyNot } from './image-attempt.ts'

export interface FetchingImages extends ImageFetching, Pick<WorkInTurn, 'db' | 'worker' | 'logger'> {
  /** The most that the files of a workspace may have, in bytes. */
  readonly storedBytes: number
  /** The pause before each attempt, in milliseconds; as many attempts are made. */
  readonly schedule?: readonly number[]
}

const NAME = 'images'
const EVERY_MS = 250
/** Images of a replica under way at once. Those of a workspace are few, so that slow ones leave others their slots. */
const SLOTS = { all: 24, ofWorkspace: 4 }
/** Longer than an attempt: 30 s to fetch, 25 s until an image process has a turn, 40 s of its work, and to store. */
const LEASE = '5 minutes'
const MINUTE = 60_000
const SCHEDULE = [0, MINUTE, 10 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE]
/** The pause after an attempt that had no turn, which does not count. */
const NO_TURN_MS = MINUTE

/** An image that this replica fetches. */
interface ClaimedImage {
  readonly workspaceId: string
  readonly id: number
  readonly product_id: string
  readonly import_id: string
  readonly url: string
  readonly traceparent: string
  readonly attempts: number
}

/**
 * Fetches images that wait, workspace by workspace, and adds them to their products (OP-281). A replica that dies loses
 * nothing: its claims end, and the images are fetched again. What an attempt adds is added with the end of its claim.
 */
export function fetchImages({ schedule = SCHEDULE, ...fetching }: FetchingImages): Component {
  const { db, worker: waiting, logger } = fetching
  const attempts = new Tasks<ClaimedImage>()
  const freeOf = (workspace: string) =>
    SLOTS.ofWorkspace - attempts.items.filter(({ workspaceId }) => workspaceId === workspace).length
  const next = workspacesInTurn<Pick<WorkspaceContext, 'workspaceId' | 'livemode'>>(
    waiting.sql,
    () => waiting.sql`
      select workspace_id as "workspaceId", livemode from product_image where next_attempt_at <= now()`,
  )
  return worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger,
    tasks: attempts,
    async work(stopping) {
      const free = SLOTS.all - attempts.size
      if (free <= 0) return EVERY_MS
      const workspace = await next()
      if (workspace === undefined) return undefined
      const limit = Math.min(free, freeOf(workspace.workspaceId))
      // The next search begins behind this workspace.
      if (limit <= 0) return 0
      const context = { ...workspace, traceparent: '', actor: NAME }
      const claimed = await db.inWorkspace(context, (tx) => claim(tx, limit))
      for (const image of claimed) {
        const imageContext = { ...context, traceparent: image.traceparent }
        attempts.begin(image, () => tryImage({ ...fetching, schedule }, imageContext, image, stopping))
      }
      return 0
    },
  })
}

/** Claims images that are due, the longest first. Uses `now()`, since an index cannot search for a volatile time. */
const claim = (tx: Transaction, limit: number) => tx<ClaimedImage[]>`
  update product_image set attempts = attempts + 1, next_attempt_at = clock_timestamp() + ${LEASE}::interval
  where workspace_id = ${tx.context.workspaceId} and id = any(array(
    select id from product_image where workspace_id = ${tx.context.workspaceId} and next_attempt_at <= now()
    order by next_attempt_at limit ${limit} for update skip locked
  ))
  returning workspace_id as "workspaceId", id, product_id, import_id, url, traceparent, attempts`

type Trying = FetchingImages & Required<Pick<FetchingImages, 'schedule'>>

/** Makes one attempt. Never throws: it records a failure. When it cannot, the claim ends and the image is due again. */
async function tryImage(trying: Trying, context: WorkspaceContext, image: ClaimedImage, stopping: AbortSignal) {
  const { workspaceId } = context
  const startedAt = performance.now()
  const { url, import_id, product_id, attempts } = image
  // The rest of a URL may be a secret.
  const logged = { workspace_id: workspaceId, import_id, product_id, host: URL.parse(url)?.host, attempts }
  const log = (fields: object, message: string) =>
    trying.logger.info({ ...logged, ...fields, duration_ms: Math.round(performance.now() - startedAt) }, message)
  try {
    if (attempts > trying.schedule.length) throw new Error('each attempt was broken off by the end of its process')
    const stored = await fetchImage(trying, { workspaceId, url }, stopping)
    const isAdded = await addImage(trying, context, image, stored)
    log({ bytes: stored.size }, isAdded ? 'image added' : 'image dropped: nobody waits for it any more')
  } catch (error) {
    const { reason, mayPass, isExpected } = whyNot(error)
    const takenBack = stopping.aborted || error instanceof NoTurn ? 1 : 0
    let delayMs = mayPass ? delayAfter(attempts, trying.schedule, Math.random()) : undefined
    if (takenBack > 0) delayMs = stopping.aborted ? 0 : NO_TURN_MS
    log(
      { reason, ...(!isExpected && { err: error }) },
      delayMs === undefined ? 'image failed' : 'image failed, trying again',
    )
    await recordFailure(trying.db, context, image, { reason, delayMs, takenBack }).catch((err: unknown) => {
      trying.logger.warn({ ...logged, err }, 'an image keeps its claim until it ends')
    })
  }
}

/** The pauses before an image is added again that found the product locked, or no free connection: it is stored. */
const ADD_AGAIN_AFTER_MS = [500, 2000, 5000]
const isBusy = (error: unknown): boolean =>
  isLockTimeout(error) ||
  (error instanceof Error && 'code' in error && error.code === 'CONNECT_TIMEOUT') ||
  (error instanceof ApiError && error.code === 'rate_limited')

/** Adds a stored image to its product. Returns false when the product or the claim is gone. */
const addImage = (
  { db, storage, storedBytes, logger }: Trying,
  context: WorkspaceContext,
  image: ClaimedImage,
  asset: StoredAsset,
): Promise<boolean> =>
  filesOfRow(
    { storage, logger },
    pathsOf(asset),
    () =>
      retry(
        () => db.inWorkspace(context, (tx) => insertImage(tx, image, asset, storedBytes)),
        (error, failures) => (isBusy(error) ? ADD_AGAIN_AFTER_MS[failures - 1] : undefined),
      ),
    (isAdded) => isAdded,
  )

async function insertImage(tx: Transaction, image: ClaimedImage, asset: StoredAsset, storedBytes: number) {
  const before = await lockAndRead(tx, image.product_id, 'NONE')
  const [claimed] = await tx<{ position: number }[]>`
    update product_image set asset_id = ${asset.id}, next_attempt_at = null, failure = null
    where ${isClaimed(tx, image)} returning position`
  if (before === undefined || claimed === undefined) return false
  const now = currentTime()
  await insertAsset(tx, asset, now)
  await refuseTooManyBytes(tx, storedBytes)
  const media = planMedia(before.media, { medias: [{ asset: asset.id, position: claimed.position }] }, [asset])
  // No change of the product by somebody: the undo of the import takes it back (OP-151).
  const after = { ...before, media, ...oneChangeOn(before, now), refreshes: before.refreshes + 1 }
  await writeProducts(tx, [{ before, after }], { events: {}, now })
  return true
}

/** The row of an image whose claim still holds. */
const isClaimed = (tx: Transaction, { id, attempts }: ClaimedImage) => tx`
  workspace_id = ${tx.context.workspaceId} and id = ${id} and attempts = ${attempts} and next_attempt_at is not null`

/** Records why an attempt failed, and when the next one is due; without a delay it was the last. */
const recordFailure = (
  db: Database,
  context: WorkspaceContext,
  image: ClaimedImage,
  { reason, delayMs, takenBack }: { reason: string; delayMs: number | undefined; takenBack: number },
) =>
  db.inWorkspace(
    context,
    (tx) => tx`
      update product_image set
        failure = ${reason}, attempts = attempts - ${takenBack},
        next_attempt_at = clock_timestamp() + ${delayMs ?? null}::float8 * interval '1 millisecond'
      where ${isClaimed(tx, image)}`,
  )
