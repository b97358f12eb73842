import type { Refusal } from './api.ts'

/** An uploaded file in the API's answer (OP-18). */
export interface Asset {
  readonly id: string
  readonly url: string
  readonly thumbnail: string | null
  readonly type: string
  readonly size: number
}

/** Uploads a file as a client does. `headers` include the key. */
export async function upload<Body = Asset>(
  gateway: string,
  headers: Record<string, string>,
  content: Uint8Array<ArrayBuffer>,
  name = 'photo.png',
): Promise<{ status: number; body: Body }> {
  const form = new FormData()
  form.append('file', new Blob([content]), name)
  const response = await fetch(new URL('/v1/assets', gateway), { method: 'POST', headers, body: form })
  return { status: response.status, body: (await response.json()) as Body }
}

/** Uploads a file that the API refuses. */
export const uploadRefused = upload<Refusal>

/** A PNG of one red pixel. */
export const PIXEL = new Uint8Array(
  Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC', 'base64'),
)
