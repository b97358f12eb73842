import { expect, it, vi } from 'vitest'
import { hasRecentRequests, noteRequest } from './recent-requests.ts'

it('a request is recent for a second, and what imports asks is none', () => {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  noteRequest({ url: '/v1/products' })
  expect(hasRecentRequests()).toBe(true)
  now += 1001
  expect(hasRecentRequests()).toBe(false)
  for (const what of ['check', 'undo']) noteRequest({ url: `/internal/imports/${what}` })
  expect(hasRecentRequests()).toBe(false)
  clock.mockRestore()
})
