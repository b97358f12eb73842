import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { chunksOf } from '../../files/testing/chunks.ts'
import { TimeSlices } from '../time-slices.ts'
import { validateFile } from '../validate-file.ts'

/*
 * Validates files at the same time, each with the template products and an owner that accepts every row, in a thread
 * whose heap can be limited. `parts` of a file are repeated, so that its content is not in that heap.
 */
interface Wanted {
  readonly folder: string
  readonly files: readonly (readonly [part: string, times: number][])[]
}

const { folder, files } = workerData as Wanted

const shared = { slices: new TimeSlices(), signal: new AbortController().signal }

await Promise.all(
  files.map(async (parts, index) => {
    const content = Buffer.concat(parts.flatMap(([part, times]) => Array(times).fill(Buffer.from(part))))
    const own = join(folder, String(index))
    await mkdir(own)
    await validateFile(
      {
        template: 'products',
        content: chunksOf(content, 64 * 1024),
        encoding: 'utf-8',
        currency: 'USD',
        folder: own,
        remarks: [],
        ...shared,
      },
      async ({ read }) => ({ created: read.map(({ row }) => row), updated: [], unchanged: [], failed: [] }),
      () => undefined,
    )
  }),
)
