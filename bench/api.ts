import { Pool } from 'undici'

export interface Api {
  post<Body>(path: string, body: unknown): Promise<Body>
  put<Body>(path: string, body: unknown): Promise<Body>
  get<Body>(path: string): Promise<Body>
  delete(path: string): Promise<void>
  close(): Promise<void>
}

/** A client that sends the same headers with every request. Throws for an answer that is not a success. */
export function apiClient(origin: string, headers: Record<string, string>): Api {
  const pool = new Pool(origin, { connections: 64 })
  const send = async <Body>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Body> => {
    const response = await pool.request({
      method,
      path,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.body.text()
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }
  return {
    post: (path, body) => send('POST', path, body),
    put: (path, body) => send('PUT', path, body),
    get: (path) => send('GET', path),
    delete: (path) => send('DELETE', path),
    close: () => pool.close(),
  }
}
