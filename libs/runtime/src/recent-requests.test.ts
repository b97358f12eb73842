import { expect, it, vi } from 'vitest'
import { hasRecentRequests, noteRequest } from './recent-requests.ts'

it('a request is recent for a second, and what imports asks is none', () => {
  noteRequest({ url: '/v1/products' })
  expect(hasRecentRequests()).toBe(true)
  const later = performance.now() + 1001
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => later)
  expect(hasRecentRequests()).toBe(false)
  noteRequest({ url: '/internal/imports/check' })
  expect(hasRecentRequests()).toBe(false)
  clock.mockRestore()
})
