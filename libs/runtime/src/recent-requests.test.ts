import { expect, it, vi } from 'vitest'
import { hasRecentRequests, noteRequest } from './recent-requests.ts'

it('a request is recent for a second, and what imports asks is none', () => {
  noteRequest({ url: '/v1/products' })
  expect(hasRecentRequests()).toBe(true)
  const later = performance.now() + 1001
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => later)
  expect(hasRecentRequests()).toBe(false)
  for (const what of ['check', 'undo']) noteRequest({ url: `/internal/imports/${what}` })
  expect(hasRecentRequests()).toBe(false)
  clock.mockRestore()
})
