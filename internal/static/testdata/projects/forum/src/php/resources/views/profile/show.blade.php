@extends('layout')

@section('content')
<article class="profile">
  <h1>{{ $member->handle }}</h1>
  <p class="signature">{!! $member->signature !!}</p>
  <div class="about">{!! nl2br(e($member->about)) !!}</div>
  <script>
    window.profile = {{ Illuminate\Support\Js::from(['id' => $member->id, 'handle' => $member->handle]) }};
  </script>
</article>
@endsection
