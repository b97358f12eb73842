import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Messages } from './parts/action.tsx'
import { queries, router } from './router.tsx'
import './styles.css'

const RELOAD_AGAIN_MS = 60_000

// A deploy replaces the files of pages that are not open yet: the browser gets the new ones, once.
addEventListener('vite:preloadError', () => {
  const isRepeated = Date.now() - Number(sessionStorage.getItem('reloaded_at')) < RELOAD_AGAIN_MS
  sessionStorage.setItem('reloaded_at', String(Date.now()))
  if (!isRepeated) location.reload()
})

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Messages>
          <RouterProvider router={router} />
        </Messages>
      </QueryClientProvider>
    </StrictMode>,
  )
}
