export default function NewRunPage() {
  return null;
}
