import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { ApiError, type ErrorCode, type MemberPath } from '@backoffice/contracts/errors.ts'
import { LRUCache } from 'lru-cache'
import { checkFormSchema } from './check-form-schema.ts'
import { compileFormSchema } from './compile-form-schema.ts'

/** What a thread does: check a new form's schema, or check an order against it. Schemas and orders are JSON texts. */
export type FormTask =
  | { readonly schema: string; readonly order?: undefined }
  | {
      readonly schema: string
      readonly order: string
      /** Names the schema: the workspace and its version. */
      readonly key: string
    }

/** Sent once when the thread is ready, and after each task. */
export interface FormThreadMessage {
  /** The processor time that the thread has used since its start, in microseconds. */
  readonly usedMicros: number
  readonly refusal?: { readonly code: ErrorCode; readonly path: MemberPath; readonly reason: string } | undefined
}

const compiled = new LRUCache<string, ReturnType<typeof compileFormSchema>, string>({
  max: 500,
  memoMethod: (_key, _stale, { context: schema }) => compileFormSchema(JSON.parse(schema)),
})
/** The memory that compiled forms may add to that of the modules before they are dropped. */
const KEPT_BYTES = 24 * 1024 * 1024
const bytesAtStart = usedBytes()

parentPort?.on('message', (task: FormTask) => {
  post(refusalOf(task))
  // Measured, since the text of a form does not tell its memory: a pattern caches data while it matches.
  if (usedBytes() - bytesAtStart > KEPT_BYTES) compiled.clear()
})
post()

function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}

function post(refusal?: FormThreadMessage['refusal']): void {
  const { user, system } = process.threadCpuUsage()
  const message: FormThreadMessage = { usedMicros: user + system, refusal }
  parentPort?.postMessage(message)
}

function refusalOf(task: FormTask): FormThreadMessage['refusal'] {
  if (task.order !== undefined) {
    const broken = compiled.memo(task.key, { context: task.schema })(JSON.parse(task.order))
    return broken && { code: 'bad_request', ...broken }
  }
  try {
    const schema: object = JSON.parse(task.schema)
    checkFormSchema(schema, ['schema'])
    compileFormSchema(schema)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, path: error.path, reason: error.reason }
    return { code: 'unprocessable', path: ['schema'], reason: `cannot be compiled: ${error}` }
  }
}
