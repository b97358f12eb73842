import { createRootRoute } from '@tanstack/react-router'
import { Root } from './session/root.tsx'

/** The route above all pages. */
export const rootRoute = createRootRoute({ component: Root })
