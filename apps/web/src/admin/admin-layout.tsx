import { Outlet } from '@tanstack/react-router';

export default function AdminLayout() {
  return <Outlet />;
}
