import type { Import, ImportReport } from '@backoffice/contracts/import.ts'
import type { Template } from '@backoffice/contracts/imports.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import type { Answer, Refusal } from './api.ts'
import type { TestStack } from './stack.ts'
import type { newWorkspace } from './workspaces.ts'

/** The states in which nothing goes on by itself. */
const AT_REST = ['VALIDATED', 'INVALID', 'COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED', 'CANCELLED']

/** New products of the template, so many of them. */
export const productRows = (count: number): string =>
  ['sku,name,stock', ...Array.from({ length: count }, (_, n) => `SKU-${n},Mug ${n},${n % 10}`)].join('\n')

/** A workspace's imports over the gateway. Services may be killed meanwhile: reads that fail are repeated. */
export function importsOf(
  stack: Pick<TestStack, 'description'>,
  { api, key }: Awaited<ReturnType<typeof newWorkspace>>,
) {
  const { gateway } = stack.description()
  const authorization = { authorization: `Bearer ${key}` }
  async function upload<Body = Import & Refusal>(template: Template, content: string): Promise<Answer<Body>> {
    const form = new FormData()
    form.append('template', template)
    form.append('file', new Blob([content], { type: 'text/csv' }), 'rows.csv')
    const response = await fetch(new URL('/v1/imports', gateway), {
      method: 'POST',
      headers: authorization,
      body: form,
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
  }
  const get = (id: string) =>
    eventually(`import ${id} is read`, async () => {
      const answer = await api<Import>('GET', `/v1/imports/${id}`).catch(() => undefined)
      return answer?.status === 200 && answer.body
    })
  /** Waits until the import is as it should, and returns it. */
  const until = (id: string, what: string, isReached: (found: Import) => boolean, withinMs = 60_000) => {
    let last: Import | undefined
    const read = async () => {
      last = await get(id)
      return isReached(last) && last
    }
    return eventually(`import ${id} ${what}`, read, withinMs).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(last)}`)
    })
  }
  return {
    authorization,
    upload,
    until,
    atRest: (id: string, withinMs?: number) => until(id, 'rests', ({ status }) => AT_REST.includes(status), withinMs),
    start: (id: string) => api<Import>('POST', `/v1/imports/${id}/start`),
    report: async (id: string) => (await api<ImportReport>('GET', `/v1/imports/${id}/errors`)).body,
  }
}
