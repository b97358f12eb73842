import { FormData, Pool } from 'undici'

export interface Api {
  post<Body>(path: string, body: unknown): Promise<Body>
  /** Sends a form with a file. */
  upload<Body>(path: string, form: FormData): Promise<Body>
  put<Body>(path: string, body: unknown): Promise<Body>
  get<Body>(path: string): Promise<Body>
  delete(path: string): Promise<void>
  close(): Promise<void>
}

/** A client that sends the same headers with every request. Throws for an answer that is not a success. */
export function apiClient(origin: string, headers: Record<string, string>): Api {
  const pool = new Pool(origin, { connections: 64 })
  const send = async <Body>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Body> => {
    const isJson = body !== undefined && !(body instanceof FormData)
    const response = await pool.request({
      method,
      path,
      headers: { ...headers, ...(isJson && { 'content-type': 'application/json' }) },
      body: isJson ? JSON.stringify(body) : (body ?? null),
    })
    const text = await response.body.text()
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }
  return {
    post: (path, body) => send('POST', path, body),
    upload: (path, form) => send('POST', path, form),
    put: (path, body) => send('PUT', path, body),
    get: (path) => send('GET', path),
    delete: (path) => send('DELETE', path),
    close: () => pool.close(),
  }
}
