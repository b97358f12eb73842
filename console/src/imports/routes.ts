import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

const getParentRoute = () => rootRoute

export const importRoutes = [
  createRoute({
    getParentRoute,
    path: '/imports',
    component: lazyRouteComponent(() => import('./imports-page.tsx'), 'ImportsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/imports/new',
    component: lazyRouteComponent(() => import('./upload-page.tsx'), 'UploadPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/imports/$id',
    component: lazyRouteComponent(() => import('./import-page.tsx'), 'ImportPage'),
  }),
] as const
