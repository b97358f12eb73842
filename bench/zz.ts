import { apiClient } from './api.ts'
import { closedLoop } from './load.ts'
import { aProduct } from './products.ts'
import { readFileSync } from 'node:fs'
const d = JSON.parse(readFileSync('/tmp/st/stack.json', 'utf8'))
const admin = apiClient(d.gateway, { authorization: `Bearer ${d.admin_token}` })
const { id } = await admin.post<{ id: string }>('/admin/v1/workspaces', { name: 'Bench' })
await admin.put(`/admin/v1/workspaces/${id}/settings`, { rate_limit: { per_second: 100_000, burst: 100_000 } })
const { key } = await admin.post<{ key: string }>(`/admin/v1/workspaces/${id}/keys`, { name: 'bench', scopes: ['*'] })
const api = apiClient(d.gateway, { authorization: `Bearer ${key}` })
for (let i = 0; i < Number(process.argv[3] ?? 3); i++) { const l = await closedLoop(1500, 16, () => api.post('/v1/products', aProduct(Number(process.argv[2])))); console.log(JSON.stringify(l)) }
process.exit(0)
